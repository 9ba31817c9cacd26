package weblog

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// tally is what is known of a log whose lines hold no request time.
type tally struct {
	Sketch
	sized    bool  // bytes are known
	from, to int64 // Unix time; 0: no stamp
}

// add counts a request without its time.
func (t *tally) add(r *logline.Request) {
	t.Requests++
	t.Status[r.Status]++
	t.sized = t.sized || r.Size >= 0
	t.Bytes += uint64(max(r.Size, 0))
	if r.HasStamp {
		t.span(r.Stamp.Unix, r.Stamp.Unix)
	}
}

// span takes in a time from one moment to another.
func (t *tally) span(from, to int64) {
	if t.from == 0 || from != 0 && from < t.from {
		t.from = from
	}
	t.to = max(t.to, to)
}

// untimedError says what the workers counted of a log without request times.
func untimedError(workers []*worker) error {
	var all tally
	for _, w := range workers {
		all.Sketch.add(&w.tally.Sketch)
		all.sized = all.sized || w.tally.sized
		all.span(w.tally.from, w.tally.to)
	}
	return fmt.Errorf("%w. it holds %s", logdetect.ErrNoTime, all.String())
}

// String names the counts.
func (t *tally) String() string {
	var statuses []string
	for _, code := range t.statuses() {
		statuses = append(statuses, fmt.Sprintf("%03d: %d", code, t.Status[code]))
	}
	const most = 12
	if len(statuses) > most {
		statuses = append(statuses[:most], fmt.Sprintf("and %d other statuses", len(statuses)-most))
	}
	text := fmt.Sprintf("%d requests (%s)", t.Requests, strings.Join(statuses, ", "))
	if t.sized {
		text += fmt.Sprintf(", %s sent", units.Bytes(t.Bytes))
	}
	if t.from != 0 {
		const layout = "2006-01-02 15:04:05"
		text += fmt.Sprintf(", %s to %s UTC", time.Unix(t.from, 0).UTC().Format(layout),
			time.Unix(t.to, 0).UTC().Format(layout))
	}
	return text
}
