package lab

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestStatsSince(t *testing.T) {
	var s Stats
	s.late(300 * time.Millisecond)
	s.Units, s.Writes, s.Stalled, s.DropKernel = 10, 9, 300*time.Millisecond, 1
	mark := s
	s.late(time.Millisecond) // not more than the limit
	s.Units, s.Writes = 30, 28
	if d := s.Since(mark); d.Late != 0 || d.WorstLate != 0 || d.Units != 20 || d.Writes != 19 || d.Stalled != 0 || d.DropKernel != 0 {
		t.Errorf("a quiet stretch: %+v", d)
	}
	s.late(7 * time.Millisecond)
	s.late(1500 * time.Microsecond)
	if d := s.Since(mark); d.Late != 2 || d.WorstLate != 5*time.Millisecond || d.LateBy[0] != 1 || d.LateBy[2] != 1 {
		t.Errorf("less late than before the mark: %+v", d)
	}
	s.late(2 * time.Minute)
	if d := s.Since(mark); d.Late != 3 || d.WorstLate != 2*time.Minute || d.LateBy[len(LateSteps)-1] != 1 {
		t.Errorf("later than before the mark: %+v", d)
	}
}

func TestDisturbance(t *testing.T) {
	start := time.Now()
	mark := Mark{start, []Stats{{Stalled: time.Hour}, {}}}
	now := Mark{start.Add(10 * time.Second), []Stats{{Stalled: time.Hour + 50*time.Millisecond}, {Stalled: 60 * time.Millisecond}}}
	if d := between(mark, now); d.Share() != 0.006 || d.TooMuch() {
		t.Errorf("60 ms of 10 s: %+v", d)
	}
	now.dirs[1].Stalled = 200 * time.Millisecond
	now.dirs[1].late(40 * time.Millisecond)
	d := between(mark, now)
	if !d.TooMuch() || !strings.Contains(d.String(), "behind for 2% of the time, by 40ms at the worst") {
		t.Errorf("200 ms of 10 s: %s", d)
	}
	now.dirs[0].DropMemory, now.dirs[1].Stalled = 1, 0
	if d := between(mark, now); !d.TooMuch() || !strings.Contains(d.String(), "lost 1 units") {
		t.Errorf("a lost unit: %s", d)
	}
	if d := between(mark, mark); d.TooMuch() || d.Share() != 0 {
		t.Errorf("no time at all: %+v", d)
	}
}

// What nobody knows is no yes: of a link that another emulates, and on its way
// through JSON.
func TestUnknownIsAnAnswer(t *testing.T) {
	late := Stats{Late: 10}
	reports := map[string]LinkReport{
		"yes": LinkReport{Up: &Stats{Units: 3}, Down: &Stats{}}.since(LinkReport{}),
		"no":  LinkReport{Up: &late, Down: &Stats{}}.since(LinkReport{}),
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
