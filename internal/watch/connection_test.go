package watch

import (
	"encoding/binary"
	"testing"
	"time"
)

// message is one of sock_diag's answers with TCP_INFO of so many bytes.
func message(info int) []byte {
	b := make([]byte, messageSize)
	b[0], b[1] = 2, byte(Established)
	binary.BigEndian.PutUint16(b[4:], 22)
	binary.BigEndian.PutUint16(b[6:], 50000)
	copy(b[8:], []byte{192, 0, 2, 1})
	copy(b[24:], []byte{192, 0, 2, 7})
	binary.NativeEndian.PutUint32(b[44:], 7)
	binary.NativeEndian.PutUint32(b[60:], 9000)
	attr := func(kind uint16, value []byte) {
		b = binary.NativeEndian.AppendUint16(b, uint16(4+len(value)))
		b = binary.NativeEndian.AppendUint16(b, kind)
		b = append(b, value...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	tcp := make([]byte, info)
	put := func(at int, v uint64) {
		if at+8 <= len(tcp) {
			binary.NativeEndian.PutUint64(tcp[at:], v)
		}
	}
	put(176, 3e6)
	put(168, 5e6)
	put(120, 1e9)
	if info >= 232 {
		binary.NativeEndian.PutUint32(tcp[228:], 65536)
	}
	attr(attrInfo, tcp)
	attr(attrControl, []byte("bbr\x00"))
	attr(attrMemory, make([]byte, 36))
	return append(binary.NativeEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func TestParseConnections(t *testing.T) {
	list, err := ParseConnections(append(message(192), message(248)...), nil)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d connections, %v", len(list), err)
	}
	c := list[1]
	if c.Local.String() != "192.0.2.1:22" || c.Peer.String() != "192.0.2.7:50000" || c.ID != 7 || c.Send != 9000 ||
		c.Acked != 1e9 || c.PeerLimited != 3*time.Second || c.Busy != 5*time.Second || c.Offered != 65536 || !c.Modelled {
		t.Errorf("%+v", c)
	}
	if list[0].Offered != 0 {
		t.Error("a kernel that does not tell the peer's window was understood to tell it")
	}
	for cut := 1; cut < 60; cut++ {
		whole := message(192)
		if _, err := ParseConnections(whole[:len(whole)-cut], nil); err == nil {
			t.Fatalf("%d bytes are missing, and nothing was said", cut)
		}
	}
}

func FuzzParseConnections(f *testing.F) {
	f.Add(message(192))
	f.Add(append(message(248), message(100)...))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseConnections(data, nil)
		if err == nil && len(list)*(messageSize+4) > len(data) {
			t.Errorf("%d connections in %d bytes", len(list), len(data))
		}
		w := NewWatcher()
		now := time.Now()
		for i := range 3 {
			st := w.Add(&Sample{Time: now.Add(time.Duration(i) * time.Second), Connections: append([]Connection{}, list...)})
			if st.Verdict.Text() == "" {
				t.Error("no verdict")
			}
		}
	})
}
