package record

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

// busyState is one of a host with 200 flows whose numbers have all digits that
// measured numbers have.
func busyState(rng *rand.Rand, at time.Time) watch.State {
	s := state(0)
	s.Time = at
	s.Traffic = watch.Traffic{Sent: 1e9 * rng.Float64(), Received: 1e8 * rng.Float64(), RTT: 20 * rng.Float64(), P50: 20 * rng.Float64(),
		P99: 90 * rng.Float64(), Loss: rng.Float64() / 100, Retransmits: 100 * rng.Float64()}
	for i := range 4 {
		s.Interfaces = append(s.Interfaces, watch.Interface{Name: fmt.Sprint("eth", i), Sent: 1e9 * rng.Float64(), Received: 1e9 * rng.Float64(),
			SentPackets: 1e5 * rng.Float64(), ReceivedPackets: 1e5 * rng.Float64()})
	}
	for i := range 16 {
		s.Processors = append(s.Processors, watch.Busy{ID: i, Busy: rng.Float64(), Interrupt: rng.Float64()})
	}
	s.Flows = nil
	for i := range 200 {
		s.Flows = append(s.Flows, watch.Flow{ID: fmt.Sprintf("%x", i*7919+at.Minute()/10), Local: "192.0.2.1:443",
			Peer: fmt.Sprintf("198.51.100.%d:%d", i, 40000+rng.IntN(20)), Limit: []string{"program", "path-rate", "", "send-buffer"}[rng.IntN(4)],
			Since: at.Add(-time.Duration(rng.IntN(1e12))), Age: 1e4 * rng.Float64(), Sent: 1e8 * rng.Float64(), Received: 1e6 * rng.Float64(),
			RTT: 100 * rng.Float64(), MinRTT: 20 * rng.Float64(), Window: rng.Uint32N(1000), Offered: rng.Uint32N(1 << 22),
			Flight: rng.Uint64N(1 << 22), Unsent: rng.Uint32N(1 << 20), Retransmits: 10 * rng.Float64(), Busy: rng.Float64(),
			PeerLimited: rng.Float64(), SendLimited: rng.Float64()})
	}
	s.Round(4) // as a watcher does
	return s
}

// A month of a host with 200 flows fits into what is kept. The sizes of states,
// minutes and hours are measured; that there are as many of them as are kept is
// calculated.
func TestMonthFits(t *testing.T) {
	r, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 130 {
		s := busyState(rng, begin.Add(time.Duration(i)*30*time.Second))
		if i%2 == 0 { // states list the first flows only
			s.Flows = s.Flows[:40]
		}
		if err := r.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	size := map[int64]float64{}
	rows, err := r.db.Query("SELECT tier, avg(length(data) + length(host) + 24) FROM states WHERE tier > 0 OR at % 60000 = 0 GROUP BY tier")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var tier int64
		var bytes float64
		if err := rows.Scan(&tier, &bytes); err != nil {
			t.Fatal(err)
		}
		size[tier] = bytes
	}
	total := size[0] * keepStates.Seconds()
	for _, k := range tiers() {
		total += size[int64(k.step.Seconds())] * float64(k.keep/k.step)
	}
	const pages = 1.15 // what a table of SQLite takes beside its rows
	t.Logf("a state %.0f bytes, a minute %.0f, an hour %.0f: %.0f MiB", size[0], size[60], size[3600], total*pages/(1<<20))
	if size[0] == 0 || size[60] == 0 || size[3600] == 0 || total*pages > sizeLimit {
		t.Errorf("a month takes %.0f MiB", total*pages/(1<<20))
	}
}

// On a full disk nothing that was kept is lost, and it goes on once there is room.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, refused := 0, 0
	if _, err := r.db.Exec("PRAGMA max_page_count = 40"); err != nil { // SQLite's own error for a disk without room
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		if r.Add(busyState(rng, begin.Add(time.Duration(i)*time.Second))) != nil {
			refused++
		} else {
			kept++
		}
	}
	if refused == 0 || kept == 0 {
		t.Fatalf("%d kept, %d refused", kept, refused)
	}
	if _, err := r.db.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(state(100)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if got := all(t, dir, time.Time{}); len(got) < kept+1 {
		t.Errorf("%d states are left of %d", len(got), kept+1)
	}
}
