// Package change alters a host so that nothing is lost whatever happens: before
// the first write the old values and a script that restores them are on the
// target's disk; a dead-man timer runs that script unless the change is
// confirmed in time. Only a confirmed change is written into the system's files.
package change

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

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
	// Files are what Confirm will write.
	Files []plan.File
	// SkipAbsent leaves out settings that cannot be read, which are else an
	// error; Change.Absent names them.
	SkipAbsent bool
	// Wanted are the values to be, where they are known: the rollback script
	// then tells them for ours even when progress is damaged, and a setting
	// that the system only raises is left out when its value is larger already.
	Wanted map[string]string
	// Passing says that the target ends with this program, as a lab's host does: it
	// sees no reboot, and leaves no mark for one outside its journal.
	Passing bool
	// Command is how the user types a command of this program for the host, in
	// messages; nil: with the connection's name alone.
	Command Command
	// Check, when set, sees the values before anything is written.
	Check func(old map[string]string) error

	root string // before the kernel's and the system's own paths, in tests
}

// Command writes a command of this program as a line of a POSIX shell: the verb
// and its words, with the host and what else the user needs to give.
type Command func(verb string, words ...string) string

// Item is one setting of a journal.
type Item struct {
	Setting string `json:"setting"`
	Old     string `json:"before"`
	// Watched marks a setting that is not written itself: the kernel rewrites
	// it when another one is.
	Watched bool `json:"watched,omitempty"`
	knob    knob
}

// Journal is what is on the target's disk before the first write.
type Journal struct {
	Schema  int            `json:"schema"`
	ID      string         `json:"id"`
	Host    string         `json:"host"`
	System  catalog.System `json:"os"`
	Created time.Time      `json:"created"`
	Within  float64        `json:"confirm_within_s"`
	Items   []Item         `json:"items"`
	Files   []FileChange   `json:"files"`
}

// Change is a journal that is open on a host.
type Change struct {
	Journal
	Dir string // of the journal on the target
	// Absent are the settings that were left out, with the reason.
	Absent map[string]string
	// Notes are for the user: lines of other files that win over the change at
	// the next boot, what only a reboot takes back, files that were left out.
	Notes   []string
	conn    host.Conn
	index   map[string]int
	notRoot bool
	wanted  map[string]string
	root    string
	passing bool
	typed   Command
	timers  int           // how many timers were started
	left    time.Duration // of the timer, when Apply returned
}

type assignment struct {
	item  int
	value string
}

// Outcome is what became of one written value.
type Outcome struct {
	Setting string `json:"setting"`
	Wanted  string `json:"value"`
	// Got is what the kernel made of it; it differs from Wanted when the
	// kernel clamps or rounds.
	Got string `json:"running"`
	// Refused is the kernel's reason when it did not accept the value, and
	// Failure its kind.
	Refused string       `json:"refused,omitempty"`
	Failure host.Failure `json:"failure,omitempty"`
	// Foreign says that somebody else changed the setting meanwhile, so that
	// it was not written.
	Foreign string `json:"foreign,omitempty"`
}

// ErrOtherSystem is wrapped when a host runs another system than the plan's.
var ErrOtherSystem = errors.New("make a plan for this host")

// ErrLacks is wrapped when a host lacks the programs that a change needs.
var ErrLacks = errors.New("programs are missing")

// ErrPending is wrapped when another change is not yet confirmed.
var ErrPending = errors.New("another change is pending")

// Begin reads the settings' values and writes the journal and the scripts.
// Nothing is changed yet. Settings that cannot be read, or that this system
// cannot change while it runs, are errors. It takes two round trips.
func Begin(ctx context.Context, conn host.Conn, system catalog.System, settings []string, opt Options) (*Change,
	error) {
	id := opt.Now.UTC().Format("20060102-150405-") + randomHex(3)
	c := &Change{
		Journal: Journal{Schema: journalSchema, ID: id, Host: conn.Name(), System: system, Created: opt.Now.UTC(),
			Within: opt.Within.Seconds(),
			Items:  []Item{}, Files: []FileChange{}},
		conn: conn, root: opt.root, passing: opt.Passing, wanted: opt.Wanted, Absent: map[string]string{},
		typed: opt.Command,
	}
	if c.typed == nil {
		c.typed = func(verb string, words ...string) string {
			return strings.Join(append([]string{"wirerate", verb}, append(words, quote(conn.Name()))...), " ")
		}
	}
	for _, s := range settings {
		k, err := knobFor(system, s, c.root)
		if err != nil {
			return nil, err
		}
		c.Items = append(c.Items, Item{Setting: s, knob: k})
	}
	place, err := c.read(ctx, settings, opt)
	if err != nil {
		return nil, err
	}
	c.Dir = path.Join(place.Dir, id)
	if opt.Check != nil {
		if err := opt.Check(c.Old()); err != nil {
			return nil, err
		}
	}
	return c, c.write(ctx, place)
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// read asks in one batch for the place of the journals, the settings' values
// and the files.
func (c *Change) read(ctx context.Context, settings []string, opt Options) (Place, error) {
	script := readScript(c.System, c.Items, false) + watchScript(c.System, settings, c.root)
	ops := []host.Op{host.Script(placeScript), host.Script(script).Within(limit(len(settings))),
		host.Command("sh", "-c", shadowScript)}
	answers, err := c.conn.Do(ctx, append(ops, fileOps(opt.Files, c.root)...)...)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", c.conn.Name(), err)
	}
	place, err := parsePlace(c.conn, answers[0])
	if err != nil {
		return Place{}, err
	}
	if place.System != c.System && c.root == "" {
		return Place{}, fmt.Errorf("%s runs %s, and the plan is for %s: %w", c.conn.Name(), place.System, c.System,
			ErrOtherSystem)
	}
	if opt.StateDir != "" {
		place.Dir = opt.StateDir
	}
	c.notRoot = place.notRoot
	if err := answers[1].Err(); err != nil {
		return Place{}, fmt.Errorf("%s: %w", c.conn.Name(), err)
	}
	if err := c.takeValues(string(answers[1].Out), opt.SkipAbsent, opt.Wanted); err != nil {
		return Place{}, err
	}
	for _, it := range c.Items {
		if OnlyRaised(c.System, it.Setting) {
			c.Notes = append(c.Notes, it.Setting+" can be raised while the system runs and not lowered: a rollback "+
				"leaves it until the machine is started again")
		}
	}
	c.Notes = append(c.Notes, shadows(c.System, opt.Files, string(answers[2].Out))...)
	return place, c.planFiles(opt.Files, answers[len(ops):])
}

// limit is how long a script that handles n settings may run: two seconds for
// each, where a program that reads one takes a thousandth of that.
func limit(n int) time.Duration { return time.Minute + time.Duration(n)*2*time.Second }

// takeValues puts the answers of readScript and watchScript into the items.
func (c *Change) takeValues(out string, skipAbsent bool, wanted map[string]string) error {
	items := c.Items
	values, failed := make([]*string, len(items)), make([]string, len(items))
	c.Items, c.index = []Item{}, map[string]int{}
	var watched [][2]string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		status, value, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(word)
		switch {
		case word == "watch":
			watched = append(watched, [2]string{status, value})
		case err == nil && i >= 0 && i < len(items) && status == "ok":
			values[i] = &value
		case err == nil && i >= 0 && i < len(items) && status == "failed":
			failed[i] = value
		default:
			return fmt.Errorf("%s: unexpected answer %q while reading the settings", c.conn.Name(), line)
		}
	}
	for i, it := range items {
		if failed[i] != "" || values[i] == nil {
			why := cmp.Or(host.Reason(failed[i]), "no answer")
			if !skipAbsent && !noProgram.MatchString(failed[i]) {
				return fmt.Errorf("%s: %s cannot be read: %s; %sleave out what the host lacks with --skip-absent",
					c.conn.Name(), it.Setting, why, c.moduleFirst(items, values, wanted))
			}
			c.Absent[it.Setting] = why
			continue
		}
		it.Old = strings.Join(strings.Fields(*values[i]), " ")
		if to := wanted[it.Setting]; OnlyRaised(c.System, it.Setting) && lower(to, it.Old) {
			c.Absent[it.Setting] = fmt.Sprintf("it is %s, and the kernel does not lower it to %s while it runs",
				it.Old, to)
			continue
		}
		c.index[it.Setting] = len(c.Items)
		c.Items = append(c.Items, it)
	}
	for _, w := range watched {
		c.watch(w[0], w[1])
	}
	return nil
}

// moduleFirst says to load the modules that the change would load, since what
// cannot be read may come with one: its old value cannot be noted before that.
func (c *Change) moduleFirst(items []Item, values []*string, wanted map[string]string) string {
	var commands []string
	for i, it := range items {
		name, isKLD := strings.CutSuffix(it.Setting, "_load")
		switch to := wanted[it.Setting]; {
		case values[i] == nil || *values[i] == to:
		case c.System == catalog.FreeBSD && isKLD && to == "YES":
			commands = append(commands, "kldload "+name)
		case c.System == catalog.Linux && isModule(it.Setting) && to == loaded:
			commands = append(commands, "modprobe "+name)
		}
	}
	if len(commands) == 0 {
		return ""
	}
	return "if it comes with a module, load that first (" + strings.Join(commands, "; ") + ") and apply again, or "
}

// lower tells whether a is a smaller number than b.
func lower(a, b string) bool {
	x, err := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	return err == nil && err2 == nil && x < y
}

// noProgram is what a shell says of a program that is not there. A setting that
// only such a program reaches is left out.
var noProgram = regexp.MustCompile(
	`^(.*: )?(ifconfig|pfctl|kldload|ethtool|ip|modprobe): (command )?(not found|inaccessible or not found)$|^\w+ is not installed$`)

// watch adds a setting that the kernel rewrites, unless it is written anyway.
// Linux's comes as its path below /proc/sys.
func (c *Change) watch(name, value string) {
	if c.System == catalog.Linux {
		name = procPath(name) // the exchange of dots and slashes is its own inverse
	}
	if _, ok := c.index[name]; ok {
		return
	}
	k, err := knobFor(c.System, name, c.root)
	if err != nil {
		return
	}
	c.index[name] = len(c.Items)
	c.Items = append(c.Items, Item{Setting: name, Old: value, Watched: true, knob: k})
}

// lockScript takes the folder "pending" for the change I of the journals in D.
// The lock of a change that is over, whose script was killed before it gave it
// back, is taken over; else the holder is printed, with status 9.
const lockScript = `
P=$D/pending
over() { read -r o <"$P/id" && read -r s <"$D/$o/state" && { [ "$s" = confirmed ] || [ "$s" = rolled-back ]; }; }
mkdir -p "$D" || exit 1
if ! mkdir "$P" 2>/dev/null; then
 [ -d "$P" ] || { mkdir "$P"; exit 1; }
 over 2>/dev/null || { cat "$P/id"; exit 9; }
 rm -rf "$P"; mkdir "$P" || exit 1
fi
printf '%s\n' "$I" | cat >"$P/id" || { rm -rf "$P"; exit 1; }
`

// write takes the lock and puts the journal on the disk.
func (c *Change) write(ctx context.Context, at Place) error {
	journal, err := c.Journal.encode()
	if err != nil {
		return err
	}
	pending := path.Join(at.Dir, "pending")
	lock := programCheck + "D=" + quote(at.Dir) + "; I=" + quote(c.ID) + lockScript
	ops := []host.Op{host.Command("sh", "-c", lock).OrStop(),
		host.Write(path.Join(c.Dir, "journal.json"), journal, 0o600).OrStop()}
	ops = append(ops, c.storeOps()...)
	ops = append(ops, host.Write(path.Join(c.Dir, "confirm.sh"), []byte(c.confirmScript(at.enter)), 0o700).OrStop(),
		host.Write(path.Join(c.Dir, "rollback.sh"), []byte(c.rollbackScript(at.enter)), 0o700).OrStop(),
		host.Write(path.Join(c.Dir, "state"), []byte("pending\n"), 0o600).OrStop())
	if c.Within > 0 {
		c.timers = 1
		ops = append(ops, host.Script(deadManScript(c.root, c.Dir, c.timers, c.timer())).OrStop())
	}
	answers, err := c.conn.Do(ctx, ops...)
	if err != nil {
		return fmt.Errorf("%s: %w; no setting is changed; a journal that was begun there is closed with: %s",
			c.conn.Name(), err, c.typed("rollback"))
	}
	if answers[0].Status == missingPrograms {
		return fmt.Errorf("%s: the journal and the way back need programs that are not there:%s; install them "+
			"first; nothing is changed%w", c.conn.Name(), strings.TrimRight(string(answers[0].Out), "\n"),
			silent{ErrLacks})
	}
	if answers[0].Status == 9 {
		return fmt.Errorf("%s: %w: %s; confirm it or roll it back first", c.conn.Name(), ErrPending, answers[0].Text())
	}
	for i, a := range answers {
		if a.Failure == host.None {
			continue
		}
		left := []string{"rm", "-rf", c.Dir}
		if i > 0 {
			left = append(left, pending)
		}
		_, _ = c.conn.Do(ctx, host.Command(left...))
		advice := c.advice(a.Failure)
		if a.Failure == host.ReadOnly {
			advice += "; --state-dir names another folder"
		}
		return fmt.Errorf("%s: the journal in %s cannot be written, nothing is changed: %s%s%w", c.conn.Name(), at.Dir,
			host.Reason(a.Stderr), advice, silent{a.Err()})
	}
	return nil
}

// Old returns the values before the change, by setting.
func (c *Change) Old() map[string]string {
	old := map[string]string{}
	for _, it := range c.Items {
		if !it.Watched {
			old[it.Setting] = it.Old
		}
	}
	return old
}

// WhenLost says what becomes of the change while its host cannot be reached,
// and what to do then.
func (c *Change) WhenLost(now time.Time) string {
	if c.Within == 0 {
		return "it has no timer: when the host is reached again take it back with: " + c.typed("rollback")
	}
	within := time.Duration(c.Within * float64(time.Second))
	left := within - max(now.Sub(c.Created), since(c.Created)).Round(time.Second)
	if left <= 0 {
		return fmt.Sprintf("its own timer was to take everything back by now, %s after the last write there; see: %s",
			units.Duration(within), c.typed("status"))
	}
	return fmt.Sprintf("its own timer takes everything back %s after the last write there, the soonest in about %s; "+
		"see then: %s", units.Duration(within), left, c.typed("status"))
}

// Rollback takes the change back.
func (c *Change) Rollback(ctx context.Context) (RollbackReport, error) {
	return rollback(ctx, c.conn, c.Dir)
}
