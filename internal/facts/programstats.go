package facts

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ProgramStats is the name under which the statistics of servers and proxies are kept.
const ProgramStats = "server statistics"

// ProgramCounter is what the names of such counters begin with in Facts.Counters.
const ProgramCounter = "program."

// ProxyServer is a line of HAProxy's show stat (its management guide, 9.1): a frontend, a server, or all servers of a
// backend.
type ProxyServer struct {
	Proxy  string `json:"proxy"`
	Server string `json:"server"`
	// Queued wait now for a free server, Sessions are served now; Limit is how many may be, 0 unknown.
	Queued   uint64 `json:"queued"`
	Sessions uint64 `json:"sessions"`
	Limit    uint64 `json:"limit,omitempty"`
	Source   Source `json:"source"`
}

// Throttling is how often a control group of Linux was made to wait since its time of the period was used up
// (Documentation/admin-guide/cgroup-v2.rst, cpu.stat).
type Throttling struct {
	Subject string  `json:"subject"`
	Periods uint64  `json:"periods,omitempty"`
	Share   float64 `json:"share"`
	Source  Source  `json:"source"`
	Total   Source  `json:"total,omitzero"`
}

// ProgramStatForm is a line of such statistics: memcached's stats, Redis' INFO, HAProxy's show info, varnishstat -1,
// Envoy's /stats, MySQL's SHOW STATUS, cpu.stat and the metrics that cAdvisor makes of it, the alert CPUThrottlingHigh of
// kubernetes-mixin.
var ProgramStatForm = regexp.MustCompile(`^\W*(?:STAT (?:max_connections|curr_connections|listen_disabled_num|` +
	`accepting_conns) \d|(?:connected_clients|maxclients|rejected_connections): ?\d|` +
	`(?:(?:Hard_m|M)axconn|CurrConns|Idle_pct): \d|` +
	`(?:MAIN\.)?(?:threads_limited|sess_dropped|sess_queued|sess_fail_emfile)\s+\d|` +
	`cluster\.\S+\.upstream_(?:cx_(?:overflow|connect_timeout|connect_fail|total)|rq_pending_overflow): \d|` +
	`(?:Max_used_connections|max_connections|Connection_errors_max_connections)\b[\s|]+\d|` +
	`(?:\S*cpu\.stat:)?(?:nr_periods|nr_throttled) \d+$|container_cpu_cfs_(?:throttled_)?periods_total\{)|` +
	`\d% throttling of CPU in namespace`)

var (
	programStat = regexp.MustCompile(`^\W*(STAT )?(?:\S*cpu\.stat:)?((?:cluster\.\S+\.)?[A-Za-z][\w.]*?)` +
		`(?:\{([^}]*)\})?[\s:|]+(\d{1,18})(?:\.\d+)?\b`)
	alertShare = regexp.MustCompile(`(\d{1,3}(?:\.\d{1,6})?)% throttling of CPU in namespace (\S+) for container (\S+)` +
		`(?: in pod (\S+?)\.?(?:\s|$))?`)
	metricPod = regexp.MustCompile(`\b(?:pod|container|name)="([^"\\]{1,64})"`)
)

// readProgramStats reads them.
func (f *Facts) readProgramStats(t text) error {
	found := false
	var heads []string
	periods := map[string]Counter{}
	for i, line := range t.lines() {
		if len(line) > 4096 {
			continue
		}
		line, src := strings.TrimSpace(line), f.Line(t.from, i+1)
		if m := alertShare.FindStringSubmatch(line); m != nil {
			f.throttled(Throttling{Subject: cmp.Or(m[4], m[3]), Share: min(amount(m[1])/100, 1), Source: src})
			found = true
			continue
		}
		if names, ok := strings.CutPrefix(line, "# pxname,"); ok {
			heads, found = append([]string{"pxname"}, strings.Split(names, ",")...), true
			f.use(t.from, i+1)
			continue
		}
		if heads != nil && f.proxyServer(heads, line, src) {
			f.use(t.from, i+1)
			continue
		}
		m := programStat.FindStringSubmatch(line)
		if m == nil || !ProgramStatForm.MatchString(line) {
			continue
		}
		v, ok := count(m[4])
		if !ok || len(f.Counters) >= 100*rowLimit {
			continue
		}
		found = true
		f.use(t.from, i+1)
		name, subject := m[2], strings.Join(podOf(m[3]), "/")
		if at := strings.Index(line, "/cpu.stat:"); at > 0 && subject == "" {
			subject = shorten(line[:at])
		}
		switch name {
		case "nr_periods", "container_cpu_cfs_periods_total":
			periods[subject] = Counter{Value: v, Source: src}
			continue
		case "nr_throttled", "container_cpu_cfs_throttled_periods_total":
			f.throttled(Throttling{Subject: subject, Periods: v, Source: src}) // its periods may follow
			continue
		}
		f.keepCounter(f.Counters, ProgramCounter+m[1]+name, Counter{Value: v, Source: src, Partial: true})
	}
	f.sharesOf(periods)
	return nothingUnless(found)
}

func podOf(labels string) (names []string) {
	for _, m := range metricPod.FindAllStringSubmatch(labels, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

func (f *Facts) throttled(t Throttling) {
	if len(f.Throttled) < rowLimit {
		f.Throttled = append(f.Throttled, t)
	}
}

// sharesOf gives each throttling the number of periods of which it is a part; those of which it is not known, or that never
// waited, are none.
func (f *Facts) sharesOf(periods map[string]Counter) {
	f.Throttled = slices.DeleteFunc(f.Throttled, func(t Throttling) bool {
		return t.Share == 0 && (t.Periods == 0 || periods[t.Subject].Value == 0 || t.Periods > periods[t.Subject].Value)
	})
	for i := range f.Throttled {
		if t := &f.Throttled[i]; t.Share == 0 {
			all := periods[t.Subject]
			t.Share, t.Periods, t.Total = float64(t.Periods)/float64(all.Value), all.Value, all.Source
		}
	}
}

// proxyServer reads a line of show stat below its heading, from which columns may have been cut.
func (f *Facts) proxyServer(heads []string, line string, src Source) bool {
	if len(f.ProxyServers) >= rowLimit {
		return false
	}
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(fields) < 4 || len(fields) > len(heads) {
		return false
	}
	p := ProxyServer{Source: src}
	known := 0
	for i, v := range fields {
		n, ok := count(v)
		switch heads[i] {
		case "pxname":
			p.Proxy = v
		case "svname":
			p.Server = v
		case "qcur":
			p.Queued = n
		case "scur":
			p.Sessions = n
		case "slim":
			p.Limit = n
		default:
			ok = false
		}
		if ok {
			known++
		}
	}
	if known == 0 || !plainName(p.Proxy) || p.Server == "" || len(p.Server) > 64 {
		return false
	}
	f.ProxyServers = append(f.ProxyServers, p)
	return true
}
