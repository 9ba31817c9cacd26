package change

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// Set writes values in the order given and reads each back. A refused value
// stops it; the outcomes then end with that one.
func (c *Change) Set(ctx context.Context, order []string, values map[string]string) ([]Outcome, error) {
	return c.set(ctx, order, values, untilRefused)
}

// Try is Set that goes on after a refused value.
func (c *Change) Try(ctx context.Context, order []string, values map[string]string) ([]Outcome, error) {
	return c.set(ctx, order, values, regardless)
}

// Apply is Set for the one time that a plan is put in place: it also stops at
// the first value that somebody else changed since Begin, and writes the files
// that are for the next boot only. Without an error and a refused or foreign
// value, everything was read back after the last write, and Left tells for how
// long it stays.
func (c *Change) Apply(ctx context.Context, order []string, values map[string]string) ([]Outcome, error) {
	begun := time.Now()
	out, err := c.set(ctx, order, values, applying)
	for tries := 0; err == nil && stopped(out) == nil; tries++ {
		within := time.Duration(c.Within * float64(time.Second))
		c.left = within - since(begun)
		if c.Within == 0 || c.left > within/2 {
			return out, nil
		}
		if tries == 3 {
			if c.left > 0 {
				return out, nil
			}
			return out, fmt.Errorf("%s: it takes longer to answer than the timer of %g s waits; give it a longer "+
				"time to confirm", c.conn.Name(), c.Within)
		}
		// The answer came late: what it says may be taken back by now.
		begun = time.Now()
		err = c.again(ctx, out)
	}
	return out, err
}

// Left is for how long what Apply put in place stays at least, as of its return.
func (c *Change) Left() time.Duration { return c.left }

// since is the time that passed, also while this machine slept.
func since(t time.Time) time.Duration {
	return max(time.Since(t), time.Now().Round(0).Sub(t.Round(0)))
}

// stopped returns the outcome at which writing stopped, nil where it did not.
func stopped(outcomes []Outcome) *Outcome {
	for i, o := range outcomes {
		if o.Refused != "" || o.Foreign != "" {
			return &outcomes[i]
		}
	}
	return nil
}

// again reads everything back once more and starts the timer anew.
func (c *Change) again(ctx context.Context, out []Outcome) error {
	c.timers++
	answers, err := c.conn.Do(ctx, host.Script(c.writePrologue()+c.finish(c.timers)).Within(limit(len(c.Items))))
	if err != nil {
		return fmt.Errorf("%s: %w", c.conn.Name(), err)
	}
	if err := c.failure(answers[0]); err != nil {
		return err
	}
	return c.completed(out, sayings(string(answers[0].Out)))
}

// completed takes in what the end of an apply said.
func (c *Change) completed(out []Outcome, said map[string][]string) error {
	for _, moved := range said["moved"] {
		number, why, _ := strings.Cut(moved, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= len(c.Items) {
			return fmt.Errorf("%s: unexpected answer %q", c.conn.Name(), moved)
		}
		for i := range out {
			if out[i].Setting == c.Items[n].Setting {
				out[i].Foreign = why
			}
		}
	}
	if stopped(out) == nil && len(said["complete"]) == 0 {
		return fmt.Errorf("%s: %w", c.conn.Name(), errEndedEarly)
	}
	return nil
}

// writing is how far a sequence of writes goes.
type writing int

const (
	regardless   writing = iota // to its end
	untilRefused                // to the first refused value
	applying                    // to the first that is refused or that somebody else changed
)

// assignments are the writes that give settings their values.
func (c *Change) assignments(order []string, values map[string]string) ([]assignment, error) {
	var todo []assignment
	for _, name := range order {
		i, ok := c.index[name]
		if !ok {
			return nil, fmt.Errorf("%s: not in the journal", name)
		}
		if a, write := c.settled(assignment{i, strings.Join(strings.Fields(values[name]), " ")}, values); write {
			todo = append(todo, a)
		}
	}
	return todo, nil
}

func (c *Change) set(ctx context.Context, order []string, values map[string]string, how writing) ([]Outcome, error) {
	todo, err := c.assignments(order, values)
	if err != nil {
		return nil, err
	}
	if how == applying && c.Within > 0 {
		c.timers++
	}
	answers, err := c.conn.Do(ctx, host.Script(c.setScript(todo, how)).Within(limit(len(todo))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.conn.Name(), err)
	}
	said := sayings(string(answers[0].Out))
	out, err := c.outcomes(todo, said["set"])
	if err == nil {
		err = c.failure(answers[0])
	}
	for _, text := range said["skipped"] {
		file, why, _ := strings.Cut(text, " ")
		c.Notes = append(c.Notes, fmt.Sprintf("%s is not written, so that the boot settings are not tried for one "+
			"boot: %s", file, host.Reason(why)))
	}
	if err == nil && how == applying {
		err = c.completed(out, said)
	}
	return out, err
}

// failure says why a script that writes failed, and what to do.
func (c *Change) failure(a host.Answer) error {
	if a.Failure == host.None {
		return nil
	}
	return fmt.Errorf("%s: %s%s%w", c.conn.Name(), cmp.Or(host.Reason(a.Stderr), string(a.Failure)),
		c.advice(a.Failure), silent{a.Err()})
}

// outcomes reads the lines "N STATUS VALUE" of a script that writes.
func (c *Change) outcomes(todo []assignment, lines []string) ([]Outcome, error) {
	var out []Outcome
	for _, line := range lines {
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 2 || len(out) >= len(todo) {
			return out, fmt.Errorf("%s: unexpected answer %q while writing", c.conn.Name(), line)
		}
		rest := strings.Join(fields[2:], "")
		o := Outcome{Setting: c.Items[todo[len(out)].item].Setting, Wanted: todo[len(out)].value}
		switch fields[1] {
		case "refused":
			o.Refused, o.Failure = c.refusal(o.Setting, rest)
		case "foreign":
			o.Foreign = rest
		default:
			o.Got = rest
		}
		out = append(out, o)
	}
	return out, nil
}
