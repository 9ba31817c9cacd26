package lab

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab/emulator"
)

func TestDisturbance(t *testing.T) {
	start := time.Now()
	mark := Mark{start, []emulator.Stats{{Stalled: time.Hour}, {}}}
	now := Mark{start.Add(10 * time.Second), []emulator.Stats{{Stalled: time.Hour + 50*time.Millisecond}, {Stalled: 60 * time.Millisecond}}}
	if d := now.Since(mark); d.Share() != 0.006 || d.TooMuch() {
		t.Errorf("60 ms of 10 s: %+v", d)
	}
	now.Directions[1].Stalled = 200 * time.Millisecond
	now.Directions[1].WorstLate = 40 * time.Millisecond
	d := now.Since(mark)
	if !d.TooMuch() || !strings.Contains(d.String(), "behind for 2% of the time, by 40 ms at the worst") {
		t.Errorf("200 ms of 10 s: %s", d)
	}
	now.Directions[0].DropMemory, now.Directions[1].Stalled = 1, 0
	if d := now.Since(mark); !d.TooMuch() || !strings.Contains(d.String(), "lost 1 units") {
		t.Errorf("a lost unit: %s", d)
	}
	if d := mark.Since(mark); d.TooMuch() || d.Share() != 0 {
		t.Errorf("no time at all: %+v", d)
	}
}

// What nobody knows is no yes: of a link that another emulates, and on its way
// through JSON.
func TestUnknownIsAnAnswer(t *testing.T) {
	late := emulator.Stats{Late: 10}
	reports := map[string]LinkReport{
		"yes": LinkReport{Up: &emulator.Stats{Units: 3}, Down: &emulator.Stats{}}.since(LinkReport{}),
		"no":  LinkReport{Up: &late, Down: &emulator.Stats{}}.since(LinkReport{}),
		"nem": LinkReport{Unknown: "nobody says"}.since(LinkReport{}),
	}
	words := map[Answer]string{Yes: "true", No: "false", Unknown: "null"}
	for _, c := range []struct {
		links []string
		want  Answer
		says  string
	}{
		{[]string{"yes", "yes"}, Yes, "kept up: yes, worst"},
		{[]string{"yes", "no", "nem"}, No, "kept up: no, worst"},
		{[]string{"nem", "yes"}, Unknown, "kept up: unknown, nobody says"},
	} {
		var s, back Status
		for _, name := range c.links {
			s.Links = append(s.Links, reports[name])
		}
		data, err := json.Marshal(s)
		if err != nil || json.Unmarshal(data, &back) != nil {
			t.Fatalf("%s: %v", data, err)
		}
		for _, s := range []Status{s, back} {
			kept, unknown := s.KeptUp()
			if kept != c.want || (kept == Unknown) != (unknown != "") || !strings.Contains(s.String(), c.says) {
				t.Errorf("%v: %q, %s, want %q", c.links, kept, s, c.want)
			}
		}
		for _, r := range s.Links {
			if !strings.Contains(string(data), `"kept_up":`+words[r.KeptUp]) {
				t.Errorf("%v: %s", c.links, data)
			}
		}
	}
}
