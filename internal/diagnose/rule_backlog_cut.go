package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// backlogCut finds programs that say that the kernel cut their accept queue short.
func backlogCut() Rule {
	return Rule{
		ID: "backlog-cut", Title: "The kernel caps a program's accept queue", Severity: Warning,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"messages"},
		Because: "The program requested a longer backlog than the kernel allows; connections of a burst that do " +
			"not fit are dropped, and each retries after a second or more.",
		Confirm: "ss -ltn (netstat -Lan) shows the longer backlog after the program is restarted.",
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
					"a program requested a backlog of %d connections and got %d", asked, limit)
				setting := "net.core.somaxconn"
				if in.Facts.System == "freebsd" {
					setting = "kern.ipc.soacceptqueue"
				}
				found[0].Fix = []Fix{{Setting: setting, Value: m[1]}, {Action: "restart the program: it sets the backlog once, at " +
					"start; in a container, set the value in its network namespace"}}
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
