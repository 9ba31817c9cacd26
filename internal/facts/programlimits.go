package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ProgramLimit is a limit of a program that serves connections: what it logs when it was reached, and what raises it.
type ProgramLimit struct {
	Form *regexp.Regexp
	// Subject is the program where the message tells it; Said what was reached.
	Subject, Said, Do string

	pattern string
}

// What programs log when a limit of their own refuses or delays connections: the C library's text of EMFILE (errno 24) by
// nginx (ngx_event_accept.c, "accept4() failed (24: Too many open files)"), Go, Java, Python and Node.js; HAProxy (session.c,
// backend.c), Linux (fs/file_table.c), Squid; nginx (ngx_connection.c); Apache's MPMs (AH00161, AH00484, AH00485);
// PHP-FPM (fpm_process_ctl.c); PostgreSQL (postmaster.c, postinit.c); MySQL (ER_CON_COUNT_ERROR); Redis (networking.c);
// PgBouncer, HikariCP, OpenSSH (sshd.c), Postfix and Tomcat.
const (
	filesReached = `\(24: Too many open files\)|\[Errno 24\] Too many|Error: EMFILE\b|` +
		`(?:accept4?|socket|pipe2?|dup|epoll_create1?|kqueue|open \S+|` +
		`[Ee]xception|[Ee]rror)(?:\(\))?: [Tt]oo many open files|` +
		`reached (?:process|system) FD limit \(maxsock=|` +
		`[Aa]ccept(?:4|ing)?(?: error| failed| on .{1,16} failed:)? [Tt]oo many open files|VFS: file-max limit \d+ reached|running out of filedescriptors`
	haproxyFiles  = `Cannot raise FD limit to \d+, limit is \d+|FD limit \(\d+\) too low for maxconn=\d+`
	nginxFiles    = `\d worker_connections exceed open file resource limit: \d+`
	nginxReached  = `\d worker_connections are not enough`
	apacheReached = `server reached (?:MaxRequestWorkers|MaxClients) setting|` +
		`scoreboard is full, not at MaxRequestWorkers`
	fpmReached    = `server reached (?:pm\.)?max_children setting \(\d+\)`
	postgresFull  = `(?i:sorry, too many clients already)|remaining connection slots are reserved`
	bouncerFull   = `no more connections allowed \(max_client_conn\)`
	mysqlFull     = `\b1040\b.{1,24}Too many connections|\bER_CON_COUNT_ERROR\b`
	mongoFull     = `refused because (?:there are )?too many open connections`
	redisFull     = `[-:] ?(?:ERR )?[Mm]ax number of clients (?:\+ cluster connections )?reached`
	redisSlow     = `(?:scheduled to be closed ASAP for|closed for) overcoming of output buffer limits`
	sshFull       = `beginning MaxStartups throttling|drop connection #\d+ from .* past MaxStartups`
	postfixFull   = `all server ports busy`
	hikariFull    = `Connection is not available, request timed out after \d+ms`
	tomcatReached = `Maximum number of threads \(\d+\) created for connector`
)

// ProgramLimits are the limits that programs report, those first that cost most connections.
var ProgramLimits = []ProgramLimit{
	limitOf(filesReached, "open files", "a program ran out of file descriptors",
		"raise its limit (LimitNOFILE=65536 in the unit, worker_rlimit_nofile 65536 in nginx.conf, ulimit -n), or fs.file-max "+
			"for the whole host; a count that only grows is a leak (ls /proc/PID/fd | wc -l)"),
	limitOf(haproxyFiles, "HAProxy", "its open files limit is below what maxconn needs",
		"raise the limit to at least twice maxconn plus the listeners (LimitNOFILE= in the unit; in a container --ulimit "+
			"nofile=SOFT:HARD), or lower maxconn in the global section"),
	limitOf(nginxFiles, "nginx", "its open files limit is below worker_connections",
		"set worker_rlimit_nofile in nginx.conf to twice worker_connections (or LimitNOFILE= in the unit)"),
	limitOf(nginxReached, "nginx", "all worker connections were in use",
		"set worker_connections 8192 in the events block of nginx.conf, worker_rlimit_nofile to twice that; a proxied request "+
			"takes two"),
	limitOf(apacheReached, "Apache", "all workers were busy",
		"raise MaxRequestWorkers (and ServerLimit) as far as memory allows; if workers wait for a backend (apachectl "+
			"fullstatus), that is the cause; a shorter KeepAliveTimeout frees workers"),
	limitOf(fpmReached, "PHP-FPM", "all processes of the pool were busy",
		"raise pm.max_children as far as memory allows (free memory divided by process size); check the slow log "+
			"(request_slowlog_timeout = 5s) for what keeps them busy"),
	limitOf(postgresFull, "PostgreSQL", "all its connections were in use",
		"use connection pooling (PgBouncer, smaller pools); then raise max_connections"),
	limitOf(bouncerFull, "PgBouncer", "its client limit was reached",
		"run SHOW POOLS on its console: if cl_waiting is above 0, there are too few server connections or slow queries "+
			"(default_pool_size); otherwise find clients that do not disconnect, then raise max_client_conn and its open files "+
			"limit"),
	limitOf(mysqlFull, "MySQL", "all its connections were in use",
		"compare Max_used_connections with max_connections; close idle connections (wait_timeout), then raise max_connections"),
	limitOf(mongoFull, "MongoDB", "its connection limit was reached",
		"find what opens them (db.serverStatus().connections, db.currentOp()) and lower maxPoolSize in the clients; then raise "+
			"net.maxIncomingConnections in mongod.conf and the open files limit (LimitNOFILE= in the unit)"),
	limitOf(redisFull, "Redis", "its client limit was reached",
		"raise maxclients and the open files limit; find clients that do not disconnect (CLIENT LIST)"),
	limitOf(redisSlow, "Redis", "a client or replica that read too slowly was disconnected",
		"check that client and the path to it; for a replica, set client-output-buffer-limit replica 1gb 512mb 120 and raise "+
			"repl-backlog-size"),
	limitOf(sshFull, "sshd", "logins were refused", "raise MaxStartups (100:30:200) in sshd_config"),
	limitOf(postfixFull, "Postfix", "all processes of a service were busy",
		"raise default_process_limit; find what keeps them busy (slow DNS lookups, lingering clients)"),
	limitOf(hikariFull, "connection pool", "no connection in the program's pool became free in time",
		"find slow queries and connections that are not returned (leakDetectionThreshold); then raise maximumPoolSize"),
	limitOf(tomcatReached, "Tomcat", "all threads of a connector were busy",
		"raise maxThreads of the connector; find what its threads wait for (jstack)"),
}

// ProgramLimitForm is a line that reports a limit of a program.
var ProgramLimitForm = func() *regexp.Regexp {
	patterns := make([]string, len(ProgramLimits))
	for i, l := range ProgramLimits {
		patterns[i] = l.pattern
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}()

func limitOf(pattern, subject, said, do string) ProgramLimit {
	return ProgramLimit{regexp.MustCompile(pattern), subject, said, do, pattern}
}
