package switchport

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/wirerate/wirerate/internal/watch"
)

// script is an agent that answers from a table, and may do so badly.
type script struct {
	mu    sync.Mutex
	table map[string]gosnmp.SnmpPDU
	spoil func(packet []byte) []byte // nil answers well
	asked int
}

func serve(t *testing.T, table map[string]gosnmp.SnmpPDU) (*script, Agent) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &script{table: table}
	go func() {
		buffer := make([]byte, 65536)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if out := s.answer(buffer[:n]); out != nil {
				conn.WriteTo(out, from)
			}
		}
	}()
	a, err := ParseAgent("snmp://" + conn.LocalAddr().String() + "/1/1")
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

func (s *script) answer(request []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	in, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c, Community: "public"}).SnmpDecodePacket(request)
	if err != nil || in.Community != "public" {
		return nil
	}
	var out []gosnmp.SnmpPDU
	names := slices.SortedFunc(maps.Keys(s.table), compareOIDs)
	for _, v := range in.Variables {
		if in.PDUType == gosnmp.GetRequest {
			p, known := s.table[v.Name]
			if p.Name = v.Name; !known {
				p.Type = gosnmp.NoSuchInstance
			}
			out = append(out, p)
			continue
		}
		i := slices.IndexFunc(names, func(n string) bool { return compareOIDs(n, v.Name) > 0 })
		for ; i >= 0 && i < len(names) && len(out) < 25; i++ {
			p := s.table[names[i]]
			p.Name = names[i]
			out = append(out, p)
		}
		if i < 0 {
			out = append(out, gosnmp.SnmpPDU{Name: v.Name, Type: gosnmp.EndOfMibView})
		}
	}
	reply := gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.GetResponse,
		RequestID: in.RequestID, Variables: out}
	data, err := reply.MarshalMsg()
	if err != nil {
		panic(err)
	}
	if s.spoil != nil {
		data = s.spoil(data)
	}
	return data
}

func compareOIDs(a, b string) int {
	return slices.Compare(numbers(a), numbers(b))
}

func numbers(oid string) (all []int) {
	for _, part := range strings.Split(strings.TrimPrefix(oid, "."), ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}

func c64(n uint64) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.Counter64, Value: n} }
func c32(n uint32) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.Counter32, Value: n} }
func gauge(n uint) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.Gauge32, Value: n} }
func number(n int) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.Integer, Value: n} }
func str(s string) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.OctetString, Value: []byte(s)} }
func ticks(n uint) gosnmp.SnmpPDU { return gosnmp.SnmpPDU{Type: gosnmp.TimeTicks, Value: uint32(n)} }
func (s *script) set(oid string, p gosnmp.SnmpPDU) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table[oid] = p
}

// portTable is that of a switch with the ports 1/1 and 1/2, whose indices are 7 and 9.
func portTable() map[string]gosnmp.SnmpPDU {
	t := map[string]gosnmp.SnmpPDU{sysUpTime: ticks(1000), ifName + ".7": str("1/1"), ifName + ".9": str("1/2"),
		ifHighSpeed + ".7": gauge(1000), ifOperStatus + ".7": number(1), duplexStatus + ".7": number(3), ifDiscontinuity + ".7": ticks(0)}
	for _, object := range counters() {
		if strings.HasPrefix(object, ifXEntry) {
			t[object+".7"] = c64(100)
		} else {
			t[object+".7"] = c32(100)
		}
	}
	return t
}

func poller(a Agent, m Machine) *Poller {
	p := &Poller{agent: a, machine: m, client: a.client(Auth{})}
	p.client.Timeout, p.client.Retries = 200*time.Millisecond, 0
	return p
}

func (p *Poller) told(t *testing.T) watch.SwitchPort {
	t.Helper()
	p.once(t.Context())
	news := p.Take()
	if len(news) != 1 {
		t.Fatalf("%+v", news)
	}
	return news[0]
}

func TestCounts(t *testing.T) {
	s, a := serve(t, portTable())
	p := poller(a, Machine{})
	first := p.told(t)
	if first.Port != "1/1" || first.Speed != 1e9 || first.Status != "up" || first.Duplex != "full" || first.Seconds != 0 || first.Error != "" {
		t.Errorf("%+v", first)
	}
	s.set(ifXEntry+"6.7", c64(5100))
	s.set(dot3Stats+"3.7", c32(102)) // FCS errors
	s.set(dot3Pause+"3.7", c32(1100))
	got := p.told(t)
	if got.Seconds <= 0 || got.Counts["in_bytes"] != 5000 || got.Counts["in_fcs_errors"] != 2 ||
		got.Counts["in_pause_frames"] != 1000 || got.Counts["out_errors"] != 0 || len(got.Counts) != len(CounterNames()) {
		t.Errorf("%+v", got)
	}
}

// Hostile and broken agents: what is told of the next answer.
func TestBadAgents(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*script)
		want   string
	}{
		"restart":  {func(s *script) { s.table[sysUpTime] = ticks(5); s.table[ifXEntry+"6.7"] = c64(1) }, "the agent was restarted"},
		"reset":    {func(s *script) { s.table[ifDiscontinuity+".7"] = ticks(900) }, "the port's counters were reset"},
		"backward": {func(s *script) { s.table[ifXEntry+"6.7"] = c64(99) }, "in_bytes went back"},
		"small":    {func(s *script) { s.table[dot3Stats+"3.7"] = c32(3) }, "in_fcs_errors went back"},
		"lie":      {func(s *script) { s.table[ifXEntry+"10.7"] = c64(1 << 60) }, "the agent is not believed"},
		"moved":    {func(s *script) { s.table[ifName+".7"] = str("1/2") }, "is gone, or has another index"},
		"vanished": {func(s *script) {
			maps.DeleteFunc(s.table, func(k string, _ gosnmp.SnmpPDU) bool { return strings.HasSuffix(k, ".7") })
		},
			"is gone, or has another index"},
		"types": {func(s *script) {
			for k := range s.table {
				s.table[k] = str("x")
			}
		}, "is gone, or has another index"},
		"silent": {func(s *script) { s.spoil = func([]byte) []byte { return nil } }, "no answer in 2s"},
		"garbage": {func(s *script) {
			s.spoil = func(b []byte) []byte { return slices.Repeat([]byte{0x30, 0x84, 0xff}, 99) }
		}, ""},
		"truncated": {func(s *script) { s.spoil = func(b []byte) []byte { return b[:len(b)/2] } }, ""},
		"another's": {func(s *script) { s.spoil = func(b []byte) []byte { b[20] ^= 0xff; return b } }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, a := serve(t, portTable())
			p := poller(a, Machine{})
			p.told(t)
			s.mu.Lock()
			c.change(s)
			s.mu.Unlock()
			got := p.told(t)
			if got.Error == "" || !strings.Contains(got.Error, c.want) || got.Seconds != 0 || len(got.Counts) != 0 {
				t.Errorf("%+v", got)
			}
			s.mu.Lock()
			s.spoil, s.table = nil, portTable() // it is well again
			s.mu.Unlock()
			p.told(t)
			if got := p.told(t); got.Error != "" || got.Seconds == 0 {
				t.Errorf("it does not come back: %+v", got)
			}
		})
	}
}

// A counter of 32 bits that wraps goes on counting.
func TestWrap(t *testing.T) {
	begin := time.Now()
	b := &answer{at: begin, counts: map[string]count{"in_errors": {1<<32 - 10, false}, "in_bytes": {1<<64 - 10, true}}}
	a := &answer{at: begin.Add(5 * time.Second), counts: map[string]count{"in_errors": {5, false}}}
	if got, seconds, err := a.since(b); err != nil || seconds != 5 || got["in_errors"] != 15 {
		t.Errorf("%v %v %v", got, seconds, err)
	}
}

func TestUnknownPort(t *testing.T) {
	_, a := serve(t, portTable())
	a.Name = "\x1b[2Jeth0"
	if got := poller(a, Machine{}).told(t); got.Error != `it has no port "\x1b[2Jeth0", but 1/1, 1/2` {
		t.Errorf("%q", got.Error)
	}
}

// A table that has no end is not read for ever.
func TestEndlessTable(t *testing.T) {
	table := portTable()
	s, a := serve(t, table)
	n := 100
	s.spoil = func([]byte) []byte { // each answer has more rows
		var more []gosnmp.SnmpPDU
		for range 50 {
			n++
			more = append(more, gosnmp.SnmpPDU{Name: ifName + "." + strconv.Itoa(n), Type: gosnmp.OctetString, Value: "x"})
		}
		data, err := (&gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.GetResponse,
			RequestID: uint32(s.asked), Variables: more}).MarshalMsg()
		if err != nil {
			panic(err)
		}
		return data
	}
	c := a.client(Auth{})
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetRequestID(0)
	if _, err := find(c, "1/1", Machine{}); err == nil || s.asked < 100 {
		t.Errorf("%d questions: %v", s.asked, err)
	}
}

func TestNeighbour(t *testing.T) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	machine := Machine{"web1", []net.Interface{{Name: "eth0", HardwareAddr: mac}}}
	other := str("\x02\x00\x00\x00\x00\x09")
	type row struct{ kind, port, chassis, system string }
	for name, c := range map[string]struct {
		rows map[string]row // by the switch's port
		want string
	}{
		"address of the port":    {map[string]row{"7": {kind: "3", port: string(mac)}}, "1/1"},
		"address of the chassis": {map[string]row{"7": {"5", "eth9", string(mac), "x"}}, "1/1"},
		"names":                  {map[string]row{"7": {"5", "eth0", "x", "WEB1.example"}, "9": {"5", "eth0", "y", "web2"}}, "1/1"},
		"port's name in LLDP":    {map[string]row{"20": {kind: "3", port: string(mac)}}, "1/2"},
		"nobody":                 {map[string]row{"7": {"3", "x", "y", "web1"}}, "none of its LLDP neighbours is this machine"},
		"two":                    {map[string]row{"7": {kind: "3", port: string(mac)}, "9": {kind: "3", port: string(mac)}}, "at 2 of its ports"},
		"number of none":         {map[string]row{"33": {kind: "3", port: string(mac)}}, "which interface its LLDP port 33 is"},
		"no LLDP":                {nil, "its LLDP knows no neighbour"},
	} {
		t.Run(name, func(t *testing.T) {
			table := portTable()
			table[ifHighSpeed+".9"], table[ifXEntry+"6.9"] = gauge(1000), c64(1)
			table[locPortID+".20"], table[locPortDesc+".20"] = other, str("1/2")
			for port, r := range c.rows {
				index := ".0." + port + ".1"
				kind, _ := strconv.Atoi(r.kind)
				table[remPortType+index], table[remPortID+index] = number(kind), str(r.port)
				table[remChassis+index], table[remSysName+index] = str(r.chassis), str(r.system)
			}
			_, a := serve(t, table)
			a.Name = ""
			got := poller(a, machine).told(t)
			if got.Port != c.want && (got.Error == "" || !strings.Contains(got.Error, c.want)) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func FuzzParseAgent(f *testing.F) {
	for _, text := range []string{"snmp://192.0.2.1", "snmp://secret@sw1.example:1161/ge-0/0/1", "snmp://[2001:db8::1]/lldp",
		"snmp://u:p@a/", "snmp:///x", "http://a", "snmp://a:0/", "snmp://\x1b[2J/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAgent(text)
		if err == nil && (a.Host == "" || a.Port == 0) {
			t.Fatalf("%q: %+v", text, a)
		}
	})
}

func TestParseAgent(t *testing.T) {
	a, err := ParseAgent("snmp://s3cret@sw1:1161/ge-0/0/1")
	if err != nil || a != (Agent{"sw1", 1161, "ge-0/0/1", "s3cret"}) || a.String() != "sw1:1161" {
		t.Errorf("%+v %v", a, err)
	}
	for _, text := range []string{"", "sw1", "http://sw1", "snmp://", "snmp://u:s3cret@sw1", "snmp://s3cret@sw1:99999/", "snmp://s3cret@/"} {
		if _, err := ParseAgent(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAuth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth")
	for content, want := range map[string]string{
		"community: x": "", "user: u": "", "user: u\nauth: sha256\nauth_passphrase: s3cret-s3cret": "",
		"user: u\nauth: sha256\nauth_passphrase: s3cret-s3cret\npriv: aes\npriv_passphrase: s3cret-s3cret": "",
		"": "a community or a user", "user: u\ncommunity: x": "and not both", "user: u\nauth: rot13": `auth "rot13": one of`,
		"user: u\nauth: sha\nauth_passphrase: s3cret": "8 characters", "user: u\npriv: aes\npriv_passphrase: s3cret-s3cret": "priv needs auth",
		"user: u\npasword: s3cret": "are expected", "s3cret: [": "are expected", "community: x\nauth: sha": "belong to a user",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadAuth(file)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAuth(file); err == nil || !strings.Contains(err.Error(), "anybody can read it") {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	s := &script{table: portTable()}
	for _, object := range []string{ifName, ifHighSpeed, ifXEntry + "6", dot3Stats + "3"} {
		request, err := (&gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.GetRequest,
			RequestID: 1, Variables: []gosnmp.SnmpPDU{{Name: object + ".7", Type: gosnmp.Null}}}).MarshalMsg()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.answer(request))
	}
	f.Add([]byte{0x30, 0x84, 0xff})
	f.Fuzz(func(t *testing.T, packet []byte) {
		in, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c, Community: "public"}).SnmpDecodePacket(packet)
		if err != nil {
			return
		}
		before := &answer{at: time.Now(), counts: map[string]count{"in_bytes": {5, true}}}
		now := &answer{at: before.at.Add(time.Second), counts: map[string]count{}}
		now.read("7", in.Variables)
		if counts, seconds, err := now.since(before); err != nil && (counts != nil || seconds != 0) || len(now.name) > 4*255 {
			t.Fatalf("%v in %g s, with %v", counts, seconds, err)
		}
	})
}
