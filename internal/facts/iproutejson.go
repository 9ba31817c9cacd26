package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// jsonRows reads the arrays that iproute2 prints with -j; nil when the text holds none.
func jsonRows[T any](t text) []T {
	var all []T
	in := json.NewDecoder(bytes.NewReader(t.data))
	for {
		var rows []T
		if in.Decode(&rows) != nil {
			return all
		}
		all = append(all, rows...)
	}
}

// jsonLink is a link of ip -j -s link (iproute2 ip/ipaddress.c).
type jsonLink struct {
	Name    string   `json:"ifname"`
	Flags   []string `json:"flags"`
	MTU     uint32   `json:"mtu"`
	Master  string   `json:"master"`
	Length  uint32   `json:"txqlen"`
	Kind    string   `json:"link_type"`
	Address string   `json:"address"`
	Info    struct {
		Kind string `json:"info_kind"`
	} `json:"linkinfo"`
	Stats64 map[string]map[string]json.Number `json:"stats64"`
	Stats   map[string]map[string]json.Number `json:"stats"`
}

// jsonCounters are the counters of a link by their names in JSON, where text has others.
var jsonCounters = map[string]string{"over_errors": "overrun", "missed_errors": "missed", "multicast": "mcast",
	"carrier_errors": "carrier", "collisions": "collsns"}

func (l jsonLink) nic(from string) NIC {
	src := Source{From: from, Line: 1, Text: shorten(fmt.Sprintf("%s: <%s> mtu %d", l.Name, strings.Join(l.Flags, ","),
		l.MTU))}
	n := NIC{Name: l.Name, Kind: "ethernet", MTU: int(l.MTU), Master: l.Master, TXQueue: int(l.Length), Source: src,
		Counters: map[string]Counter{}, Shown: map[string]Source{"mtu": src, "up": src}}
	n.ipFlags(l.Flags)
	if l.Kind != "" {
		ipLinkDetail(&n, []string{"link/" + l.Kind, l.Address})
	}
	if linkKinds[l.Info.Kind] && n.Kind != "loopback" {
		n.Kind = l.Info.Kind
	}
	stats := l.Stats64
	if stats == nil {
		stats = l.Stats
	}
	for way, counters := range stats {
		for name, value := range counters {
			v, ok := count(value.String())
			if short := jsonCounters[name]; short != "" {
				name = short
			}
			if ok {
				shown := Source{From: from, Line: 1, Text: shorten(fmt.Sprintf("%s: %s %s %d", l.Name, way, name, v))}
				n.Counters["link."+way+"_"+name] = Counter{Value: v, Source: shown}
			}
		}
	}
	return n
}

// jsonQdisc is a queueing discipline of tc -s -j qdisc (iproute2 tc/tc_qdisc.c).
type jsonQdisc struct {
	Kind, Handle, Parent, Dev                     string
	Packets, Drops, Overlimits, Requeues, Backlog uint64
}

func (q jsonQdisc) qdisc(from string) Qdisc {
	shown := fmt.Sprintf("qdisc %s %s dev %s: %d packets, %d drops, %d overlimits, %d requeues", q.Kind, q.Handle, q.Dev,
		q.Packets, q.Drops, q.Overlimits, q.Requeues)
	of := func(v uint64) Counter {
		return Counter{Value: v, Source: Source{From: from, Line: 1, Text: shorten(shown)}}
	}
	return Qdisc{Kind: q.Kind, Handle: strings.TrimSuffix(q.Handle, ":"), Parent: q.Parent, Sent: of(q.Packets),
		Dropped: of(q.Drops), Overlimits: of(q.Overlimits), Requeues: of(q.Requeues), Backlog: int64(min(q.Backlog, 1<<62))}
}
