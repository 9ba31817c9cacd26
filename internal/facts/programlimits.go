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
		`[Aa]ccept(?:4|ing)?(?: error| failed)? [Tt]oo many open files|VFS: file-max limit \d+ reached|running out of filedescriptors`
	nginxFiles    = `\d worker_connections exceed open file resource limit: \d+`
	nginxReached  = `\d worker_connections are not enough`
	apacheReached = `server reached (?:MaxRequestWorkers|MaxClients) setting|` +
		`scoreboard is full, not at MaxRequestWorkers`
	fpmReached    = `server reached (?:pm\.)?max_children setting \(\d+\)`
	postgresFull  = `(?i:sorry, too many clients already)|remaining connection slots are reserved`
	bouncerFull   = `no more connections allowed \(max_client_conn\)`
	mysqlFull     = `\b1040\b.{1,24}Too many connections|\bER_CON_COUNT_ERROR\b`
	redisFull     = `[-:] ?(?:ERR )?[Mm]ax number of clients (?:\+ cluster connections )?reached`
	redisSlow     = `(?:scheduled to be closed ASAP for|closed for) overcoming of output buffer limits`
	sshFull       = `beginning MaxStartups throttling|drop connection #\d+ from .* past MaxStartups`
	postfixFull   = `all server ports busy`
	hikariFull    = `Connection is not available, request timed out after \d+ms`
	tomcatReached = `Maximum number of threads \(\d+\) created for connector`
)

// ProgramLimits are the limits that programs report, those first that cost most connections.
var ProgramLimits = []ProgramLimit{
	limitOf(filesReached, "open files", "a program could open no more files or sockets",
		"raise its limit (LimitNOFILE=65536 in the unit, worker_rlimit_nofile 65536 in nginx.conf, ulimit -n), of the whole "+
			"host fs.file-max; a count that only grows is a leak (ls /proc/PID/fd | wc -l)"),
	limitOf(nginxFiles, "nginx", "its limit of open files is below its worker_connections",
		"set worker_rlimit_nofile in nginx.conf to twice worker_connections (or LimitNOFILE= in the unit)"),
	limitOf(nginxReached, "nginx", "every connection of its workers was in use",
		"set worker_connections 8192 in the events block of nginx.conf, worker_rlimit_nofile to twice that; a proxied request "+
			"takes two"),
	limitOf(apacheReached, "Apache", "every worker was busy",
		"raise MaxRequestWorkers (and ServerLimit) as far as the memory allows; where workers wait for a program behind them "+
			"(apachectl fullstatus), that is the cause; a shorter KeepAliveTimeout frees them"),
	limitOf(fpmReached, "PHP-FPM", "every process of the pool was busy",
		"raise pm.max_children as far as the memory allows (free memory divided by the size of a process); look into the slow "+
			"log (request_slowlog_timeout = 5s) for what keeps them busy"),
	limitOf(postgresFull, "PostgreSQL", "its connections were used up",
		"let clients share connections (PgBouncer, smaller pools); then raise max_connections"),
	limitOf(bouncerFull, "PgBouncer", "its clients were as many as it allows",
		"SHOW POOLS at its console: where cl_waiting is above 0 the servers are too few or too slow (default_pool_size, slow "+
			"queries); else look for clients that do not close, then raise max_client_conn and its limit of open files"),
	limitOf(mysqlFull, "MySQL", "its connections were used up",
		"compare Max_used_connections with max_connections; close idle connections (wait_timeout), then raise max_connections"),
	limitOf(redisFull, "Redis", "its clients were as many as it allows",
		"raise maxclients and the limit of open files; look for clients that do not close (CLIENT LIST)"),
	limitOf(redisSlow, "Redis", "a client or replica that took its data too slowly was cut off",
		"look at the path to that client and at what it does meanwhile; of a replica raise client-output-buffer-limit replica "+
			"1gb 512mb 120 and repl-backlog-size"),
	limitOf(sshFull, "sshd", "logins were turned away", "raise MaxStartups (100:30:200) in sshd_config"),
	limitOf(postfixFull, "Postfix", "every process of a service was busy",
		"raise default_process_limit; look for what keeps them busy (slow name lookups, clients that linger)"),
	limitOf(hikariFull, "connection pool", "no connection of the program's pool became free in time",
		"look for slow queries and connections that are not returned (leakDetectionThreshold); then a larger maximumPoolSize"),
	limitOf(tomcatReached, "Tomcat", "every thread of a connector was busy",
		"raise maxThreads of the connector; look for what its threads wait for (jstack)"),
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
