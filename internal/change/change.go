// Package change alters a host so that nothing is lost whatever happens: before
// the first write the old values and a script that restores them are on the
// target's disk; a dead-man timer runs that script unless the change is
// confirmed in time.
package change

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

// JournalSchema is the version of the journal's JSON.
const JournalSchema = 1

// Options say where and how a change is kept.
type Options struct {
	// StateDir is the folder of the journals on the target; empty means where
	// Locate finds it.
	StateDir string
	// Within is the time after which the dead-man timer rolls back a change
	// that is not confirmed; 0 means no timer.
	Within time.Duration
	// Now is the time written into the journal.
	Now time.Time
}

// Item is one setting of a journal.
type Item struct {
	Setting string `json:"setting"`
	Old     string `json:"old"`
	knob    knob
}

// Journal is what is on the target's disk before the first write.
type Journal struct {
	Schema  int            `json:"schema"`
	ID      string         `json:"id"`
	Host    string         `json:"host"`
	System  catalog.System `json:"system"`
	Created time.Time      `json:"created"`
	Within  float64        `json:"confirm_within_s"`
	Items   []Item         `json:"items"`
}

// Change is a journal that is open on a host.
type Change struct {
	Journal
	Dir   string // of the journal on the target
	conn  host.Conn
	index map[string]int
}

type assignment struct {
	item  int
	value string
}

// Outcome is what became of one written value.
type Outcome struct {
	Setting string `json:"setting"`
	Wanted  string `json:"wanted"`
	// Got is what the kernel made of it; it differs from Wanted when the
	// kernel clamps or rounds.
	Got string `json:"got"`
	// Refused is the kernel's reason when it did not accept the value.
	Refused string `json:"refused,omitempty"`
}

// ErrPending is wrapped when another change is not yet confirmed.
var ErrPending = errors.New("another change is pending")

// Begin reads the settings' values and writes the journal and the rollback
// script. Nothing is changed yet. Settings that cannot be read, or that this
// system cannot change while it runs, are errors.
func Begin(ctx context.Context, conn host.Conn, system catalog.System, settings []string, opt Options) (*Change, error) {
	place := Place{Dir: opt.StateDir}
	if opt.StateDir == "" {
		var err error
		if place, err = Locate(ctx, conn); err != nil {
			return nil, err
		}
	}
	id := opt.Now.UTC().Format("20060102-150405-") + randomHex(3)
	c := &Change{
		Journal: Journal{Schema: JournalSchema, ID: id, Host: conn.Name(), System: system, Created: opt.Now.UTC(), Within: opt.Within.Seconds()},
		Dir:     path.Join(place.Dir, id), conn: conn, index: map[string]int{},
	}
	for i, s := range settings {
		k, err := knobFor(system, s)
		if err != nil {
			return nil, err
		}
		c.Items = append(c.Items, Item{Setting: s, knob: k})
		c.index[s] = i
	}
	if err := c.readOld(ctx); err != nil {
		return nil, err
	}
	if err := c.write(ctx, place, opt.Within); err != nil {
		return nil, err
	}
	return c, nil
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// readOld reads every setting in one batch.
func (c *Change) readOld(ctx context.Context) error {
	var b strings.Builder
	b.WriteString(scriptPrologue + functions(c.Items))
	for i := range c.Items {
		fmt.Fprintf(&b, "if m=$(get_%d 2>&1) && get_%d; then plain; say \"%d ok $v\"; else say \"%d failed $m\"; fi\n", i, i, i, i)
	}
	a, err := host.One(ctx, c.conn, host.Script(b.String()))
	if err != nil {
		return err
	}
	seen := 0
	for line := range strings.Lines(string(a.Out)) {
		n, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		i, err := strconv.Atoi(n)
		if err != nil || i < 0 || i >= len(c.Items) {
			return fmt.Errorf("%s: unexpected answer %q while reading the settings", c.conn.Name(), line)
		}
		status, value, _ := strings.Cut(rest, " ")
		if status != "ok" {
			return fmt.Errorf("%s: %s cannot be read: %s", c.conn.Name(), c.Items[i].Setting, value)
		}
		c.Items[i].Old = value
		seen++
	}
	if seen != len(c.Items) {
		return fmt.Errorf("%s: %d of %d settings answered", c.conn.Name(), seen, len(c.Items))
	}
	return nil
}

// write takes the lock and puts the journal on the disk.
func (c *Change) write(ctx context.Context, at Place, within time.Duration) error {
	journal, err := json.MarshalIndent(c.Journal, "", " ")
	if err != nil {
		return err
	}
	pending := path.Join(at.Dir, "pending")
	lock := fmt.Sprintf("mkdir -p %s && if mkdir %s 2>/dev/null; then printf '%%s\\n' %s >%s; else cat %s; exit 9; fi",
		quote(at.Dir), quote(pending), quote(c.ID), quote(pending+"/id"), quote(pending+"/id"))
	answers, err := c.conn.Do(ctx, host.Command("sh", "-c", lock).OrStop(),
		host.Write(path.Join(c.Dir, "journal.json"), append(journal, '\n'), 0o600).OrStop(),
		host.Write(path.Join(c.Dir, "rollback.sh"), []byte(rollbackScript(c.ID, c.Dir, at.enter, c.Items)), 0o700).OrStop(),
		host.Write(path.Join(c.Dir, "state"), []byte("pending\n"), 0o600).OrStop())
	if err != nil {
		return fmt.Errorf("%s: %w", c.conn.Name(), err)
	}
	if answers[0].Status == 9 {
		return fmt.Errorf("%s: %w: %s; confirm it or roll it back first", c.conn.Name(), ErrPending, answers[0].Text())
	}
	for _, a := range answers {
		if a.Failure != host.None {
			_, _ = c.conn.Do(ctx, host.Command("rm", "-rf", pending, c.Dir))
			return fmt.Errorf("%s: the journal cannot be written, nothing is changed: %w", c.conn.Name(), a.Err())
		}
	}
	return c.armDeadMan(ctx, within)
}

func (c *Change) armDeadMan(ctx context.Context, within time.Duration) error {
	if within <= 0 {
		return nil
	}
	_, err := host.One(ctx, c.conn, host.Script(deadManScript(c.Dir, int(within.Seconds()+0.999))))
	return err
}

// Set writes values in the order given and reads each back. A refused value
// stops it when stopOnRefusal is set; the outcomes then end with that one.
func (c *Change) Set(ctx context.Context, order []string, values map[string]string, stopOnRefusal bool) ([]Outcome, error) {
	var todo []assignment
	for _, name := range order {
		i, ok := c.index[name]
		if !ok {
			return nil, fmt.Errorf("%s: not in the journal", name)
		}
		todo = append(todo, assignment{i, strings.Join(strings.Fields(values[name]), " ")})
	}
	a, err := host.One(ctx, c.conn, host.Script(setScript(c.Dir, c.Items, todo, stopOnRefusal)))
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for line := range strings.Lines(string(a.Out)) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), " ", 4)
		if len(fields) < 3 || fields[0] != "set" || len(out) >= len(todo) {
			return out, fmt.Errorf("%s: unexpected answer %q while writing", c.conn.Name(), line)
		}
		rest := ""
		if len(fields) == 4 {
			rest = fields[3]
		}
		o := Outcome{Setting: c.Items[todo[len(out)].item].Setting, Wanted: todo[len(out)].value}
		if fields[2] == "refused" {
			o.Refused = rest
		} else {
			o.Got = rest
		}
		out = append(out, o)
	}
	return out, nil
}

// Old returns the values before the change, by setting.
func (c *Change) Old() map[string]string {
	old := map[string]string{}
	for _, it := range c.Items {
		old[it.Setting] = it.Old
	}
	return old
}

// RollbackReport is what a rollback did.
type RollbackReport struct {
	Restored []string `json:"restored"`
	// Foreign are values that somebody else changed meanwhile; they are left.
	Foreign []string `json:"foreign"`
	Failed  []string `json:"failed"`
}

// Rollback takes the change back.
func (c *Change) Rollback(ctx context.Context) (RollbackReport, error) {
	return rollback(ctx, c.conn, c.Dir)
}

func rollback(ctx context.Context, conn host.Conn, dir string) (RollbackReport, error) {
	script := path.Join(dir, "rollback.sh")
	answers, err := conn.Do(ctx, host.Command("env", "WIRERATE_INSIDE=1", "sh", script))
	if err != nil {
		return RollbackReport{}, fmt.Errorf("%s: %w; the way back is: sh %s", conn.Name(), err, script)
	}
	report := parseRollback(string(answers[0].Out))
	a := answers[0]
	if a.Status == 1 && len(report.Foreign) > 0 {
		return report, nil
	}
	if a.Failure != host.None {
		return report, fmt.Errorf("%s: rollback is not complete: %s; try again with: sh %s", conn.Name(),
			strings.Join(append(report.Failed, strings.TrimSpace(a.Stderr)), "; "), script)
	}
	return report, nil
}

func parseRollback(out string) RollbackReport {
	var r RollbackReport
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "restored":
			r.Restored = append(r.Restored, rest)
		case "foreign":
			r.Foreign = append(r.Foreign, rest)
		case "failed":
			r.Failed = append(r.Failed, rest)
		}
	}
	return r
}
