package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readBSDNetstat reads netstat -s of FreeBSD and OpenBSD: a protocol's name,
// then indented lines "NUMBER words", more deeply indented ones belonging to
// the line above. A counter's name is the protocol and the words without
// plurals and what stands in parentheses: tcp.listen_queue_overflow,
// tcp.packet_sent.data_packet_retransmitted. A page may have taken the
// indentation, and a script that passes it on puts the number last.
func (f *Facts) readBSDNetstat(t text) error {
	at := protocolTable{}
	if m := typedProtocol.FindStringSubmatch(t.typed); m != nil {
		at.protocol = m[1]
	}
	found := false
	for i, line := range t.lines() {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		depth := len(line) - len(strings.TrimLeft(line, "\t "))
		v, words, ok := countedWords(trimmed)
		if !ok {
			at.head(trimmed, depth)
			continue
		}
		if name := at.name(words, depth); name != "" {
			found = true
			f.keepCounter(f.Counters, name, Counter{Value: v, Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(found)
}

// countedWords are the number of a line and what it counts, in either order.
func countedWords(line string) (v uint64, words string, ok bool) {
	number, words, _ := strings.Cut(line, " ")
	if v, ok = count(number); ok {
		return v, words, words != ""
	}
	end := max(strings.LastIndex(line, ": "), 0)
	v, ok = count(strings.TrimLeft(line[end:], ": "))
	return v, line[:end], ok && end > 0
}

// protocolTable is where a reader of netstat -s stands.
type protocolTable struct {
	protocol string
	headed   bool // a heading was seen
	begun    bool // and a counter below it
	flat     bool // which is not indented
	parents  []string
	depths   []int
}

// head takes a line that counts nothing: the name of a protocol, or what ends one.
func (p *protocolTable) head(line string, depth int) {
	if depth > 0 {
		return
	}
	name, ok := strings.CutSuffix(line, ":")
	switch {
	case ok && !strings.Contains(name, " "):
		*p = protocolTable{protocol: name, headed: true}
	case line == "TCP connection count by state:":
		*p = protocolTable{protocol: "tcp_states", headed: p.headed}
	default:
		p.protocol = ""
	}
}

// name is that of a counter; empty where its protocol is not known.
func (p *protocolTable) name(words string, depth int) string {
	own := counterName(words)
	whole := sentencesOfBSD[own]
	if !p.headed && whole != "" {
		return whole
	}
	if !p.begun {
		p.begun, p.flat = true, depth == 0 && p.headed
	}
	switch {
	case p.protocol == "" || depth == 0 && !p.flat:
		p.protocol = ""
		return ""
	case p.flat && strings.HasPrefix(whole, p.protocol+"."):
		return whole
	case p.flat:
		return p.protocol + "." + own
	}
	for len(p.depths) > 0 && p.depths[len(p.depths)-1] >= depth {
		p.depths, p.parents = p.depths[:len(p.depths)-1], p.parents[:len(p.parents)-1]
	}
	p.parents, p.depths = append(p.parents, own), append(p.depths, depth)
	return p.protocol + "." + strings.Join(p.parents, ".")
}

// typedProtocol is the protocol that a command asks for.
var typedProtocol = regexp.MustCompile(`-p ?(\w+)`)

// sentencesOfBSD are what netstat -s of FreeBSD and OpenBSD says of one protocol alone: a grep takes the heading and
// the line above.
var sentencesOfBSD = map[string]string{
	"listen_queue_overflow":                              "tcp.listen_queue_overflow",
	"data_packet":                                        "tcp.packet_sent.data_packet",
	"discarded_for_bad_checksum":                         "tcp.packet_received.discarded_for_bad_checksum",
	"data_packet_retransmitted":                          "tcp.packet_sent.data_packet_retransmitted",
	"data_packet_unnecessarily_retransmitted":            "tcp.packet_sent.data_packet_unnecessarily_retransmitted",
	"possible_replay_packet_detected":                    "esp.possible_replay_packet_detected",
	"packet_dropped_bad_authentication_detected":         "esp.packet_dropped_bad_authentication_detected",
	"dropped_due_to_full_socket_buffer":                  "udp.dropped_due_to_full_socket_buffer",
	"syncache_entry_added":                               "tcp.syncache_entry_added",
	"bucket_overflow":                                    "tcp.syncache_entry_added.bucket_overflow",
	"cache_overflow":                                     "tcp.syncache_entry_added.cache_overflow",
	"cookie_received":                                    "tcp.cookie_received",
	"output_packet_dropped_due_to_no_buf_etc":            "ip.output_packet_dropped_due_to_no_buf_etc",
	"fragment_dropped_after_timeout":                     "ip.fragment_dropped_after_timeout",
	"path_mtu_discovery_black_hole_detection_activation": "tcp.path_mtu_discovery_black_hole_detection_activation",
	"path_mtu_discovery_black_hole_detection_failure":    "tcp.path_mtu_discovery_black_hole_detection_failure",
	"connection_request":                                 "tcp.connection_request",
	"connection_accept":                                  "tcp.connection_accept",
}

// counterName reduces what netstat says to a name that does not depend on the
// number in front of it.
func counterName(words string) string {
	var out []string
	depth := 0
	for _, w := range strings.Fields(strings.ToLower(words)) {
		depth += strings.Count(w, "(")
		inside := depth > 0
		depth -= strings.Count(w, ")")
		if inside {
			continue
		}
		w = strings.Trim(w, ",.:;")
		if len(w) > 3 && strings.HasSuffix(w, "ies") {
			w = strings.TrimSuffix(w, "ies") + "y"
		} else if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = strings.TrimSuffix(w, "s")
		}
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, "_")
}

// readMbufs reads netstat -m. FreeBSD (usr.bin/netstat/mbuf.c):
// "0/76/76/2000 mbuf clusters in use (current/cache/total/max)", "1/2/3
// requests for mbufs denied (mbufs/clusters/mbuf+clusters)". OpenBSD: "36/240
// mbuf 2048 byte clusters in use (current/peak)", "0 requests for memory
// denied".
func (f *Facts) readMbufs(t text) error {
	pools := map[string]*Pool{}
	var order []string
	pool := func(name string) *Pool {
		if pools[name] == nil {
			pools[name] = &Pool{Name: name}
			order = append(order, name)
		}
		return pools[name]
	}
	lines := t.lines()
	for i, line := range lines {
		if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "(") { // broken by a mail program
			line += " " + strings.TrimSpace(lines[i+1])
		}
		if used, limit, ok := dashboardPair(line, DashboardMbufs); ok {
			p := pool("mbuf clusters")
			p.Used, p.Limit, p.Source = used, limit, f.Line(t.from, i+1)
			continue
		}
		word, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		values, numbers := slashNumbers(word)
		if !ok || !numbers {
			continue
		}
		mbufLine(pool, values, rest, f.Line(t.from, i+1))
	}
	if len(order) == 0 {
		return errNothing
	}
	for _, name := range order {
		f.Memories = append(f.Memories, *pools[name])
	}
	return nil
}

func mbufLine(pool func(string) *Pool, values []uint64, rest string, src Source) {
	keep := func(name string) *Pool {
		p := pool(name)
		p.Source = src
		return p
	}
	what, order := strings.TrimSuffix(rest, ":"), ""
	if i := strings.LastIndex(what, " ("); i >= 0 { // "4k (page size) jumbo clusters in use (current/...)"
		what, order = what[:i], strings.Trim(what[i:], " ()")
	}
	switch {
	case strings.HasSuffix(what, " in use") && strings.HasPrefix(order, "current/"):
		keep(strings.TrimSuffix(what, " in use")).inUse(order, values)
	case strings.HasSuffix(what, "mbufs in use") && len(values) == 1: // OpenBSD
		keep("mbufs").Used = values[0]
	case what == "Kbytes allocated to network" && len(values) == 3: // OpenBSD: current/peak/max
		p := keep("Kbytes of mbufs")
		p.Used, p.Limit = values[0], values[2]
	case what == "requests for mbufs denied" && len(values) == 3:
		denied(pool, []string{"mbufs", "mbuf clusters", "mbuf+clusters"}, values, src)
	case what == "requests for jumbo clusters denied" && len(values) == 3:
		denied(pool, []string{"4k (page size) jumbo clusters", "9k jumbo clusters", "16k jumbo clusters"}, values, src)
	case strings.HasSuffix(what, "delayed") && strings.HasPrefix(what, "requests for"):
		p := keep(what)
		for _, v := range values {
			p.Delayed += v
		}
	case what == "requests for memory denied" || what == "requests for sfbufs denied":
		keep(what).Denied = values[0]
	}
}

// inUse takes the numbers in the order that the line itself names:
// current/cache/total/max of FreeBSD since 5, current/peak/max of OpenBSD and
// of earlier FreeBSD.
func (p *Pool) inUse(order string, values []uint64) {
	names := strings.Split(order, "/")
	for i, v := range values {
		if i >= len(names) {
			return
		}
		switch names[i] {
		case "current":
			p.Used = v
		case "cache":
			p.Cached = v
		case "max":
			p.Limit = v
		}
	}
}

func denied(pool func(string) *Pool, names []string, values []uint64, src Source) {
	for i, name := range names {
		if p := pool(name); values[i] > 0 || p.Source.Text == "" {
			if p.Used > 0 {
				p.InUse = p.Source
			}
			p.Denied, p.Source = values[i], src
		}
	}
}

func slashNumbers(word string) ([]uint64, bool) {
	var out []uint64
	for _, s := range strings.Split(word, "/") {
		v, ok := count(strings.TrimSuffix(s, "K"))
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// readNetstatInterfaces reads netstat -idn. Columns differ over systems and
// releases and the address may be empty, so numbers are taken from the right
// by the names in the heading. Only the lines of links count.
func (f *Facts) readNetstatInterfaces(t text) error {
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 6 && words[0] == "Name" && words[1] == "Mtu" {
			heads = nil
			for j, w := range words {
				if w == "Address" {
					heads = words[j+1:]
				}
			}
			continue
		}
		if len(heads) > 0 && len(words) == len(heads)+3 && macAddress.MatchString(words[2]) {
			words = slices.Insert(words, 2, "<Link>") // a page took it for an element of its own
		}
		heads := heads
		if len(heads) == 0 && InterfaceRow.MatchString(line) {
			heads = headsOf(words)
		}
		if len(heads) == 0 || len(words) < len(heads)+2 || !strings.HasPrefix(words[min(2, len(words)-1)], "<Link") {
			continue
		}
		if _, number := count(words[3]); !number && words[3] != "-" && len(words) < len(heads)+4 {
			continue // behind the address a column is missing: the row was cut
		}
		n := f.linkOf(strings.TrimSuffix(words[0], "*"), words[1], f.Line(t.from, i+1))
		if strings.HasSuffix(words[0], "*") { // marked so when it is not up
			n.Up, n.StateUnknown = false, false
		}
		if n.MAC == "" && macAddress.MatchString(words[3]) {
			n.MAC = words[3]
		}
		found = true
		if n.Counters == nil {
			n.Counters = map[string]Counter{}
		}
		for j, w := range words[len(words)-len(heads):] {
			if v, ok := count(w); ok {
				n.Counters["netstat."+heads[j]] = Counter{Value: v, Source: f.Line(t.from, i+1)}
			}
		}
	}
	return nothingUnless(found)
}

// InterfaceRow is the row of a link in the table of netstat -i on FreeBSD and OpenBSD.
var InterfaceRow = regexp.MustCompile(`^\s*[a-z]+[\w.]*\d\*? +\d+ +<Link(?:#\d+)?> +(?:\S+ +)?\d+ +\d+ +\d+ +\d+ +\d`)

// headsOf are the titles of a row's numbers where its table was cut off: Idrop and Drop came later and later.
func headsOf(words []string) []string {
	var v []uint64
	const most = 8 // of the numbers that are looked at: none has so many
	for _, w := range words[max(3, len(words)-most):] {
		if n, ok := count(w); ok {
			v = append(v, n)
		} else {
			v = nil
		}
	}
	switch {
	case words[2] == "<Link>" && len(v) == 5:
		return []string{"Ipkts", "Ifail", "Opkts", "Ofail", "Colls"}
	case len(v) == 5:
		return []string{"Ipkts", "Ierrs", "Opkts", "Oerrs", "Coll"}
	case len(v) == 6 && v[2] > v[3]:
		return []string{"Ipkts", "Ierrs", "Opkts", "Oerrs", "Coll", "Drop"}
	case len(v) == 6:
		return []string{"Ipkts", "Ierrs", "Idrop", "Opkts", "Oerrs", "Coll"}
	case len(v) == 7:
		return []string{"Ipkts", "Ierrs", "Idrop", "Opkts", "Oerrs", "Coll", "Drop"}
	}
	return nil
}

var macAddress = regexp.MustCompile(`^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$`)

// readBSDListeners reads netstat -Lan: "tcp4  4/0/2  *.5003", with the length,
// the incomplete length and the limit of the accept queue.
func (f *Facts) readBSDListeners(t text) error {
	known := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		known = known || strings.HasPrefix(line, "Current listen queue sizes")
		if len(words) == 2 && strings.Count(words[0], "/") == 2 {
			words = slices.Insert(words, 0, "tcp") // an older netstat does not name the protocol
		}
		if len(words) == 2 && strings.HasPrefix(words[0], "tcp") && strings.Count(words[1], "/") == 2 {
			words = append(words, "*.*") // the column of the address was cut
		}
		if len(words) < 3 || !strings.HasPrefix(words[0], "tcp") {
			continue
		}
		values, ok := slashNumbers(words[1])
		if !ok || len(values) != 3 || values[0] > 1<<31 || values[2] > 1<<31 {
			return atLine(i+1, "three numbers with slashes are expected after %s", words[0])
		}
		f.Listeners = append(f.Listeners, Listener{Local: words[2], Queue: int(values[0]), Backlog: int(values[2]),
			Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(known || len(f.Listeners) > 0)
}

// readBSDFlows reads netstat -xn -p tcp: the columns after the addresses by
// the names in the heading (S-MBUF, S-BCNT, S-HIWA, ...).
func (f *Facts) readBSDFlows(t text) error {
	var heads []string
	known := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 7 && words[0] == "Proto" {
			known = true
			for j, w := range words {
				if w == "Address" {
					heads = words[j+1:]
				}
			}
			continue
		}
		if len(words) < 5 || !strings.HasPrefix(words[0], "tcp") || len(f.Flows) >= flowLimit {
			continue
		}
		recv, ok := wholeNumber(words[1])
		send, ok2 := wholeNumber(words[2])
		if !ok || !ok2 || strings.HasPrefix(words[4], "*") {
			continue
		}
		fl := Flow{Local: words[3], Peer: words[4], RecvQ: recv, SendQ: send, Values: map[string]float64{},
			Source: f.Line(t.from, i+1)}
		for j, w := range words[5:] {
			if v, err := strconv.ParseFloat(w, 64); err == nil && j < len(heads) && v >= 0 && v < 1e18 {
				fl.Values[heads[j]] = v
			}
		}
		f.Flows = append(f.Flows, fl)
	}
	return nothingUnless(known)
}

// readNetISR reads netstat -Q (FreeBSD usr.bin/netstat/netisr.c): the table of
// protocols with their queue limits, and that of work streams.
func (f *Facts) readNetISR(t text) error {
	limits := map[string]int{}
	section := ""
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 && strings.HasSuffix(words[0], ":") {
			section = words[0]
			continue
		}
		switch { // quoted without the headings of the sections
		case words[0] == "Name" && len(words) > 3:
			section = "Protocols:"
		case words[0] == "WSID":
			section = "Workstreams:"
		}
		switch {
		case section == "Protocols:" && len(words) >= 4:
			if v, ok := count(words[2]); ok && v < 1<<31 {
				limits[words[0]] = int(v)
			}
		case section == "Workstreams:" && len(words) == 10:
			var v [10]uint64
			good := true
			for j, w := range words {
				if j != 2 {
					var ok bool
					v[j], ok = count(w)
					good = good && ok
				}
			}
			if !good {
				continue
			}
			f.NetISR = append(f.NetISR, NetISR{Protocol: words[2], CPU: int(v[1]), Length: int(v[3]), Watermark: int(v[4]),
				Limit: limits[words[2]], Dispatched: v[5], HDispatch: v[6], Drops: v[7], Queued: v[8], Handled: v[9],
				Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(len(f.NetISR) > 0)
}

// linkOf returns the interface of a line of netstat -i: the one of that name,
// the only one whose name was cut to it, or a new one.
func (f *Facts) linkOf(name, mtu string, src Source) *NIC {
	if n := f.NIC(name); n != nil {
		return n
	}
	var cut *NIC
	for i := range f.NICs {
		if len(name) >= 5 && strings.HasPrefix(f.NICs[i].Name, name) {
			if cut != nil {
				cut = nil
				break
			}
			cut = &f.NICs[i]
		}
	}
	if cut != nil {
		return cut
	}
	n := ifconfigHead(name, "0<>", src)
	n.MTU, n.Master = smallNumber(mtu), f.masters[name]
	n.Up, n.StateUnknown = true, true
	delete(n.Shown, "up")
	if len(f.NICs) >= linkLimit {
		return &n // counted nowhere
	}
	f.NICs = append(f.NICs, n)
	return &f.NICs[len(f.NICs)-1]
}
