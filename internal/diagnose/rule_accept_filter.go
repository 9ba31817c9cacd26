package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// acceptFilter finds a FreeBSD web server without accept filters.
func acceptFilter() Rule {
	return Rule{
		ID: "accept-filter-missing", Title: "No accept filter is loaded for a web server", Systems: onFreeBSD(),
		Needs: []string{"modules", "listeners"}, Severity: Info,
		Settings: []string{"accf_http_load", "accf_data_load"},
		Because:  "An accept filter wakes the server when a request has arrived, not for every new connection.",
		Check: func(in Input) []Finding {
			if in.Role != "web" || slices.Contains(in.Facts.Modules, "accf_http") || slices.Contains(in.Facts.Modules,
				"accf_data") {
				return nil
			}
			for _, l := range in.Facts.Listeners {
				if strings.HasSuffix(l.Local, ".80") || strings.HasSuffix(l.Local, ".443") {
					return one(l.Local, []facts.Source{l.Source}, "a server listens on %s, and neither accf_http nor accf_data is "+
						"loaded", l.Local)
				}
			}
			return nil
		},
		Fires: acceptExample("zfs.ko"),
		Quiet: acceptExample("accf_http.ko"),
	}
}

func acceptExample(module string) Example {
	return freebsdExample("kldstat", "Id Refs Address                Size Name\n 1   42 0xffffffff80200000  1f3e2d0 "+
		"kernel\n 2    1 0xffffffff82140000     3a08 "+module+"\n",
		"netstat -Lan", "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen                           "+
			"Local Address\ntcp4  0/0/128                          *.80\n").as("web")
}
