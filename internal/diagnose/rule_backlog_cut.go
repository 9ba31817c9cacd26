package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// backlogCut finds programs that say that the kernel cut their accept queue short.
func backlogCut() Rule {
	return Rule{
		ID: "backlog-cut", Title: "The kernel cuts a program's accept queue short", Severity: Warning,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"messages"},
		Because: "The program asked for a longer queue of connections than the kernel allows; a burst that does not " +
			"fit is lost, each with a second and more until its next try.",
		Confirm: "ss -ltn (netstat -Lan) shows the longer queue after a restart of the program.",
		Check: func(in Input) []Finding {
			for i, line := range in.Facts.Lines("dmesg") {
				m := cutBacklog.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				asked, err := strconv.Atoi(m[1])
				limit, err2 := strconv.Atoi(m[2])
				if err != nil || err2 != nil || asked <= limit {
					continue
				}
				found := one("accept queue", []facts.Source{in.Facts.Line("dmesg", i+1)},
					"a program asked for a queue of %d connections and got %d", asked, limit)
				setting := "net.core.somaxconn"
				if in.Facts.System == "freebsd" {
					setting = "kern.ipc.soacceptqueue"
				}
				found[0].Fix = []Fix{{Setting: setting, Value: m[1]}, {Action: "restart the program: it asks once, at its " +
					"start; in a container the setting is that of its network namespace"}}
				return found
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 9.1] # WARNING: The TCP backlog setting of 511 cannot be enforced because "+
			"/proc/sys/net/core/somaxconn is set to the lower value of 128.\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] * The server is now ready to accept connections on port 6379\n"),
	}
}

// cutBacklog is what Redis, Valkey and KeyDB say at their start (redis src/server.c, checkTcpBacklogSettings).
var cutBacklog = regexp.MustCompile(`TCP backlog setting of (\d{1,9}) cannot be enforced because \S+ is set to the ` +
	`lower value of (\d{1,9})`)
