package packets

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/wirerate/wirerate/internal/flow"
)

type record struct {
	ci   gopacket.CaptureInfo
	data []byte
}

// What befalls captures changes nothing that the capture still shows.
func TestDamage(t *testing.T) {
	names, err := filepath.Glob("testdata/*_r*.pcapng.gz")
	if err != nil || len(names) == 0 {
		t.Fatal("no capture", err)
	}
	for _, name := range names {
		link, all := records(t, name)
		whole := judged(t, link, all)
		short := strings.HasPrefix(filepath.Base(name), "start") // most of it is its beginning
		for what, damage := range map[string]func([]record) []record{"headers cut off": cutOff, "disorder": disorder,
			"clock set back": clockBack, "no handshake": beheaded,
			"no handshake, headers cut off": func(all []record) []record { return cutOff(beheaded(all)) }} {
			l := judged(t, link, damage(all))
			if strings.HasSuffix(what, "handshake, headers cut off") { // where it was made cannot be known
				if l.RTT != nil || l.Limit == flow.Program {
					t.Errorf("%s: %s: round trip %v, %s", name, what, l.RTT, l.Limit)
				}
				continue
			}
			if what == "no handshake" && short {
				continue
			}
			if l.MSS != whole.MSS || l.Again != whole.Again || l.Window > whole.Window {
				t.Errorf("%s: %s: MSS %d, %d sent again, window %d; whole: %d, %d, %d", name, what, l.MSS, l.Again,
					l.Window, whole.MSS, whole.Again, whole.Window)
			}
			if l.Limit != whole.Limit {
				t.Errorf("%s: %s: %s; whole: %s", name, what, l.Limit, whole.Limit)
			}
			if a, b := l.RTT, whole.RTT; a != nil && (a.Min < b.Min*0.97-0.1 || a.Min > b.Min*1.15+0.1) {
				t.Errorf("%s: %s: round trip %.2f ms; whole: %.2f", name, what, a.Min, b.Min)
			}
		}
	}
}

// cutOff leaves 4 bytes of each TCP header's options.
func cutOff(all []record) []record {
	return changed(all, func(_ int, r *record) { r.data = r.data[:min(len(r.data), 14+20+20+4)] })
}

// disorder writes every seventh packet behind the next one.
func disorder(all []record) []record {
	all = slices.Clone(all)
	for i := 0; i+1 < len(all); i += 7 {
		all[i], all[i+1] = all[i+1], all[i]
	}
	return all
}

func clockBack(all []record) []record {
	return changed(all, func(i int, r *record) {
		if i > len(all)/2 {
			r.ci.Timestamp = r.ci.Timestamp.Add(-time.Hour)
		}
	})
}

func beheaded(all []record) []record {
	return slices.DeleteFunc(slices.Clone(all), func(r record) bool {
		p := gopacket.NewPacket(r.data, layers.LayerTypeEthernet, gopacket.NoCopy)
		tcp, ok := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
		return ok && tcp.SYN
	})
}

func changed(all []record, how func(int, *record)) []record {
	all = slices.Clone(all)
	for i := range all {
		how(i, &all[i])
	}
	return all
}

// records are a capture's packets, on Ethernet.
func records(t *testing.T, name string) (link layers.LinkType, all []record) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := newSource(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, ci, err := s.next()
		if err != nil {
			return layers.LinkTypeEthernet, all
		}
		data = bytes.Clone(data)
		if s.link(ci) != layers.LinkTypeEthernet {
			six := len(data) > 0 && data[0]>>4 == 6
			head := append(make([]byte, 12), 8, 0)
			if six {
				head = append(make([]byte, 12), 0x86, 0xdd)
			}
			data = append(head, data...)
			ci.Length += len(head)
		}
		all = append(all, record{ci, data})
	}
}

func judged(t *testing.T, link layers.LinkType, all []record) Life {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	if err := w.WriteFileHeader(1<<16, link); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		r.ci.CaptureLength, r.ci.InterfaceIndex, r.ci.AncillaryData = len(r.data), 0, nil
		if err := w.WritePacket(r.ci, r.data); err != nil {
			t.Fatal(err)
		}
	}
	trace, err := Read(&b)
	if err != nil || len(trace.Flows) == 0 {
		t.Fatal(err, trace)
	}
	return Analyze("damaged", trace).Flows[0]
}

// A clock that the library counts wrong is refused.
func TestBinaryClock(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriterInterface(&b, pcapgo.NgInterface{LinkType: layers.LinkTypeRaw}, pcapgo.DefaultNgWriterOptions)
	if err != nil {
		t.Fatal(err)
	}
	ci := gopacket.CaptureInfo{Timestamp: time.Unix(1_700_000_000, 0), Length: 1, CaptureLength: 1}
	if err := w.WritePacket(ci, []byte{0}); err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	resolution := []byte{9, 0, 1, 0} // the option, its length, and the value
	i := bytes.Index(b.Bytes(), resolution)
	if i < 0 {
		t.Fatal("no resolution in it")
	}
	b.Bytes()[i+len(resolution)] = 0x80 | 30
	if _, err := Read(&b); err == nil || !strings.Contains(err.Error(), "2^-30") {
		t.Errorf("got %v", err)
	}
}
