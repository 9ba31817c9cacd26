package packets

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
)

// Packets that a mirror port shows three times count once, without and with
// numbers in their IP headers, also when several lie between the copies.
func TestCopies(t *testing.T) {
	client, _ := transfer()
	for _, id := range []uint16{0, 1} {
		var copies []shown
		for i := 0; i < len(client); i += 10 {
			part := client[i:min(i+10, len(client))]
			for c := range 3 {
				for j, p := range part {
					p.at += time.Duration(c) * 20 * time.Microsecond
					p.id = id * uint16(i+j+1)
					copies = append(copies, p)
				}
			}
		}
		slices.SortStableFunc(copies, func(a, b shown) int { return int(a.at - b.at) })
		trace, err := Read(bytes.NewReader(written(t, layers.LinkTypeEthernet, onEthernet, copies)))
		if err != nil {
			t.Fatal(err)
		}
		if l := Analyze("copies", trace).Flows[0]; l.Bytes != 140000 || l.Again != 1 || l.Segments != 101 {
			t.Errorf("numbers %d: %d bytes in %d segments, %d sent again", id, l.Bytes, l.Segments, l.Again)
		}
	}
}
