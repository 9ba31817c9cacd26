package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// asPrinted turns what iproute2 prints with -j into what it prints without:
// one reader serves both. Texts that are no JSON are returned as they are.
func asPrinted(name, s string) string {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" || trimmed[0] != '[' && trimmed[0] != '{' {
		return s
	}
	var b strings.Builder
	switch name {
	case "ip -s -d link show":
		var links []jsonLink
		if json.Unmarshal([]byte(trimmed), &links) == nil {
			for _, l := range links {
				l.print(&b)
			}
		}
	case "tc -s qdisc show":
		var qdiscs []jsonQdisc
		if json.Unmarshal([]byte(trimmed), &qdiscs) == nil {
			for _, q := range qdiscs {
				q.print(&b)
			}
		}
	case "nstat -az":
		var tables map[string]map[string]json.Number
		if json.Unmarshal([]byte(trimmed), &tables) == nil {
			for _, title := range slices.Sorted(maps.Keys(tables)) {
				for _, counter := range slices.Sorted(maps.Keys(tables[title])) {
					fmt.Fprintf(&b, "%s %s 0.0\n", oneLine(counter), tables[title][counter])
				}
			}
		}
	}
	if b.Len() == 0 {
		return s
	}
	return b.String()
}

// oneLine keeps a string of JSON from beginning a line of its own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), "_") }

// jsonLink is a link of ip -j -s link (iproute2 ip/ipaddress.c).
type jsonLink struct {
	Index   int      `json:"ifindex"`
	Name    string   `json:"ifname"`
	Flags   []string `json:"flags"`
	MTU     uint64   `json:"mtu"`
	Qdisc   string   `json:"qdisc"`
	State   string   `json:"operstate"`
	Master  string   `json:"master"`
	Length  uint64   `json:"txqlen"`
	Kind    string   `json:"link_type"`
	Address string   `json:"address"`
	Info    struct {
		Kind string `json:"info_kind"`
	} `json:"linkinfo"`
	Stats64 map[string]map[string]json.Number `json:"stats64"`
	Stats   map[string]map[string]json.Number `json:"stats"`
}

func (l jsonLink) print(b *strings.Builder) {
	if l.Name == "" {
		return
	}
	fmt.Fprintf(b, "%d: %s: <%s> mtu %d qdisc %s", l.Index, oneLine(l.Name), strings.Join(l.Flags, ","), l.MTU, cmp.Or(oneLine(l.Qdisc), "noop"))
	if l.Master != "" {
		fmt.Fprintf(b, " master %s", oneLine(l.Master))
	}
	fmt.Fprintf(b, " state %s qlen %d\n    link/%s %s\n", cmp.Or(oneLine(l.State), "UNKNOWN"), l.Length, cmp.Or(oneLine(l.Kind), "ether"), oneLine(l.Address))
	if l.Info.Kind != "" {
		fmt.Fprintf(b, "    %s\n", oneLine(l.Info.Kind))
	}
	stats := l.Stats64
	if stats == nil {
		stats = l.Stats
	}
	for _, d := range []struct {
		title string
		names [][2]string
	}{
		{"RX", [][2]string{{"bytes", "bytes"}, {"packets", "packets"}, {"errors", "errors"}, {"dropped", "dropped"}, {"over_errors", "overrun"}, {"missed_errors", "missed"}, {"multicast", "mcast"}}},
		{"TX", [][2]string{{"bytes", "bytes"}, {"packets", "packets"}, {"errors", "errors"}, {"dropped", "dropped"}, {"carrier_errors", "carrier"}, {"collisions", "collsns"}}},
	} {
		var heads, values []string
		for _, n := range d.names {
			if v, ok := stats[strings.ToLower(d.title)][n[0]]; ok {
				heads, values = append(heads, n[1]), append(values, v.String())
			}
		}
		if len(heads) > 0 {
			fmt.Fprintf(b, "    %s: %s\n    %s\n", d.title, strings.Join(heads, " "), strings.Join(values, " "))
		}
	}
}

// jsonQdisc is a queueing discipline of tc -s -j qdisc (iproute2 tc/tc_qdisc.c).
type jsonQdisc struct {
	Kind, Handle, Parent, Dev                                  string
	Root                                                       bool
	Bytes, Packets, Drops, Overlimits, Requeues, Backlog, Qlen uint64
}

func (q jsonQdisc) print(b *strings.Builder) {
	if q.Kind == "" {
		return
	}
	where := "root"
	if q.Parent != "" {
		where = "parent " + oneLine(q.Parent)
	}
	fmt.Fprintf(b, "qdisc %s %s dev %s %s\n Sent %d bytes %d pkt (dropped %d, overlimits %d requeues %d)\n backlog %db %dp requeues %d\n",
		oneLine(q.Kind), cmp.Or(oneLine(q.Handle), "0:"), cmp.Or(oneLine(q.Dev), unnamedLink), where, q.Bytes, q.Packets, q.Drops, q.Overlimits, q.Requeues, q.Backlog, q.Qlen, q.Requeues)
}
