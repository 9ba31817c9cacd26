package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// programLimit finds limits of the programs that serve connections: reported in their logs, or seen in their statistics.
func programLimit() Rule {
	return Rule{
		ID: "program-limit", Title: "A program's own limit holds connections back",
		Needs: []string{"linux:messages|server statistics|settings", "freebsd:messages", "openbsd:messages"}, Severity: Warning,
		Because: "Connections above the limit are refused, or wait until others end: to a client this looks like a slow or " +
			"broken network.",
		Confirm: "The message appears, or the counter grows, while it is slow.",
		Check: func(in Input) (out []Finding) {
			for _, l := range facts.ProgramLimits {
				lines, n := matching(in.Facts, l.Form)
				if n > 0 {
					out = append(out, do(l.Do, one(l.Subject, lines, "%s (%s)", l.Said, counted(n, "line")))...)
				}
			}
			out = append(out, usedUp(in.Facts)...)
			out = append(out, refused(in.Facts)...)
			return append(out, openFiles(in.Facts)...)
		},
		Fires: linuxExample("dmesg", "2024/03/11 09:14:02 [alert] 2211#2211: 1024 worker_connections are not enough\n"),
		Quiet: linuxExample("dmesg", "2024/03/11 09:14:02 [notice] 2211#2211: using the \"epoll\" event method\n"),
	}
}

// programUses are numbers of connections beside the limits that programs set to them: memcached (doc/protocol.txt), Redis
// (INFO clients), HAProxy (show info), MySQL (SHOW STATUS).
var programUses = []struct{ subject, used, limit, do string }{
	{"memcached", "STAT curr_connections", "STAT max_connections", "start it with -c 4096, and make clients reuse " +
		"connections"},
	{"Redis", "connected_clients", "maxclients", "raise maxclients and the open files limit"},
	{"HAProxy", "CurrConns", "Maxconn", "raise maxconn in the global section, and ulimit-n with it"},
	{"MySQL", "Max_used_connections", "max_connections", "let clients share connections (smaller pools), then raise " +
		"max_connections"},
}

// usedUp finds programs that serve as many connections as they may.
func usedUp(f *facts.Facts) (out []Finding) {
	for _, p := range programUses {
		used, limit := f.Counters[facts.ProgramCounter+p.used], f.Counters[facts.ProgramCounter+p.limit]
		if limit.Value > 0 && float64(used.Value) >= 0.98*float64(limit.Value) {
			out = append(out, do(p.do, one(p.subject, []facts.Source{used.Source, limit.Source},
				"%d of %d connections in use", used.Value, limit.Value))...)
		}
	}
	for _, p := range f.ProxyServers {
		if p.Limit > 0 && p.Sessions >= p.Limit && p.Server == "FRONTEND" && len(out) < 3 {
			out = append(out, do("raise maxconn of the frontend (and of the global section)", one(p.Proxy+"/"+p.Server,
				[]facts.Source{p.Source}, "%d of %d sessions in use: others wait in the kernel's accept queue", p.Sessions,
				p.Limit))...)
		}
	}
	return out
}

// programRefusals are counters of what a program refused or kept waiting for a limit of its own: Varnish (VSC_main.vsc),
// Envoy (cluster statistics, circuit breakers).
var programRefusals = []struct{ subject, counter, said, do string }{
	{"memcached", "STAT listen_disabled_num", "it stopped accepting connections %d times", "start it with -c 4096 (its " +
		"connection limit)"},
	{"Redis", "rejected_connections", "it refused %d connections at its limit", "raise maxclients and the open files limit"},
	{"MySQL", "Connection_errors_max_connections", "it refused %d connections at its limit", "let clients share connections, " +
		"then raise max_connections"},
	{"Varnish", "sess_fail_emfile", "%d connections were not accepted because it ran out of file " +
		"descriptors", "set LimitNOFILE=65536 in " +
		"its systemd unit"},
	{"Varnish", "sess_dropped", "%d connections were dropped because no thread was " +
		"free", "varnishadm param.set thread_pool_max " +
		"5000; check for a slow backend that holds the threads"},
	{"Varnish", "threads_limited", "all threads were in use %d times", "varnishadm param.set thread_pool_max 5000; check " +
		"for a slow backend that holds the threads"},
	{"Envoy", "upstream_rq_pending_overflow", "%d requests were rejected by the cluster's circuit breaker",
		"raise max_pending_requests, max_requests and max_connections of the cluster's circuit_breakers (Istio: " +
			"connectionPool of the DestinationRule), or add endpoints"},
	{"Envoy", "upstream_cx_overflow", "the cluster's connection limit was hit %d times",
		"raise max_connections of the cluster's circuit_breakers (Istio: connectionPool.tcp.maxConnections), or add endpoints"},
}

// refused finds what programs count as refused; the first counter of each program says it.
func refused(f *facts.Facts) (out []Finding) {
	names := slices.Sorted(maps.Keys(f.Counters))
	for _, r := range programRefusals {
		for _, name := range names {
			plain, ours := strings.CutPrefix(name, facts.ProgramCounter)
			c := f.Counters[name]
			scope, ok := strings.CutSuffix(plain, r.counter)
			scope = strings.TrimSuffix(scope, ".")
			if !ours || !ok || c.Value == 0 || scope != "" && scope != "MAIN" && !strings.HasPrefix(scope, "cluster.") {
				continue
			}
			subject := r.subject
			if cluster, named := strings.CutPrefix(scope, "cluster."); named {
				subject += " " + cluster
			}
			if slices.ContainsFunc(out, func(o Finding) bool { return o.Subject == subject }) {
				continue
			}
			found := do(r.do, one(subject, []facts.Source{c.Source}, r.said, c.Value))
			if s := gradedCount(c); s == Info {
				found = with(s, found)
			}
			out = append(out, found...)
		}
	}
	return out
}

// openFiles finds a host whose programs have nearly as many files open as it allows: /proc/sys/fs/file-nr shows those in use,
// free ones, and the limit.
func openFiles(f *facts.Facts) []Finding {
	var used, free, limit uint64
	s := f.Settings["fs.file-nr"]
	n, _ := fmt.Sscan(s.Value, &used, &free, &limit) // another number of values is not known
	if n != 3 || limit == 0 || float64(used) < 0.9*float64(limit) {
		return nil
	}
	return do("sysctl -w fs.file-max="+fmt.Sprint(2*min(limit, 1<<40))+"; a count that only grows is a leak",
		one("open files", []facts.Source{s.Source}, "%d of %d are open", used, limit))
}
