package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

// Request is a plan that is to be put in place on a host.
type Request struct {
	Plan plan.Plan
	// StateDir, Within, Now, SkipAbsent and Command are as in Options.
	StateDir   string
	Within     time.Duration
	Now        time.Time
	SkipAbsent bool
	Command    Command
	// Anyway applies though values changed since the plan was made.
	Anyway bool
	// RuntimeOnly lets Confirm write no files.
	RuntimeOnly bool
	// Note is told what the user should know at once.
	Note func(format string, args ...any)
}

// Applied is a plan that is in place until it is confirmed.
type Applied struct {
	ID       string            `json:"id"`
	Host     string            `json:"host"`
	Within   float64           `json:"confirm_within_s"`
	Set      []Outcome         `json:"set"`
	Absent   map[string]string `json:"absent"`
	AtBoot   []string          `json:"at_boot"` // changed by confirm alone, or by the next boot
	Files    []string          `json:"files"`   // that confirm will write
	ByHand   []string          `json:"by_hand"` // steps of the plan that are not taken
	Warnings []string          `json:"warnings"`
	// Left is for how long it stays at least without being confirmed.
	Left time.Duration `json:"-"`
}

// ErrNothing is wrapped when a plan changes nothing.
var ErrNothing = errors.New("the plan changes nothing")

// ErrChanged is wrapped when a plan is out of date.
var ErrChanged = errors.New("changed since the plan was made")

// Refused are settings of a plan that the host will not let be written, found
// before the first write, with the reasons.
type Refused struct {
	Host     string
	Settings map[string]string
}

func (r *Refused) Error() string {
	by := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		by[r.Settings[name]] = append(by[r.Settings[name]], name)
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, strings.Join(by[why], ", ")+": "+why)
	}
	return fmt.Sprintf("%s: nothing was written, as these would be refused: %s", r.Host, strings.Join(parts, "; "))
}

// Undone is a plan that did not come into place as a whole: everything is taken
// back, or Err says what is not.
type Undone struct {
	Err error
	// Setting is the one that was refused; empty for another reason.
	Setting string
	// Lacks says that the connection was lost or that the user may not write.
	Lacks bool
}

func (u *Undone) Error() string { return u.Err.Error() }
func (u *Undone) Unwrap() error { return u.Err }

// Put writes a plan's settings on a running host, in the plan's order, under a
// journal, and takes everything back when one is refused, is somebody else's by
// now, or cannot be written: the error is then an Undone. Before the first write
// ErrNothing, ErrChanged, ErrPending, ErrOtherSystem, ErrLacks and a Refused say
// why not.
func Put(ctx context.Context, conn host.Conn, r Request) (Applied, error) {
	now, boot, values := Divide(r.Plan)
	if len(now)+len(boot) == 0 {
		return Applied{}, ErrNothing
	}
	opt := Options{StateDir: r.StateDir, Within: r.Within, Now: r.Now, SkipAbsent: r.SkipAbsent, Wanted: values,
		Command: r.Command}
	if !r.RuntimeOnly {
		opt.Files = append(plan.NativeFiles(r.Plan, plan.All), plan.NextBoot(r.Plan)...)
	}
	if !r.Anyway {
		opt.Check = func(old map[string]string) error { return checkUnchanged(r.Plan, old) }
	}
	if err := r.wouldBeRefused(ctx, conn, values); err != nil {
		return Applied{}, err
	}
	c, err := r.begin(ctx, conn, now, opt)
	if err != nil {
		return Applied{}, err
	}
	now = slices.DeleteFunc(now, func(name string) bool { return c.Absent[name] != "" })
	outcomes, err := c.Apply(ctx, now, values)
	if err := c.undo(ctx, outcomes, err, r.Note); err != nil {
		return Applied{}, err
	}
	a := Applied{ID: c.ID, Host: conn.Name(), Within: r.Within.Seconds(), Set: all(outcomes), Absent: c.Absent,
		AtBoot: boot,
		Files:  []string{}, ByHand: []string{}, Warnings: all(c.Notes), Left: c.Left()}
	if r.RuntimeOnly {
		for _, name := range boot {
			a.Absent[name] = "it counts at boot alone, and no file is written with --runtime-only"
		}
		a.AtBoot = []string{}
	}
	for _, s := range r.Plan.Steps {
		a.ByHand = append(a.ByHand, s.Title)
	}
	for _, f := range c.Files {
		a.Files = append(a.Files, f.Path)
	}
	return a, nil
}

// wouldBeRefused returns a Refused where the kernel will not take some of the
// values. What is not there is named only beside those: Begin knows more of it.
func (r Request) wouldBeRefused(ctx context.Context, conn host.Conn, values map[string]string) error {
	refused, err := unwritable(ctx, conn, r.Plan.System, values, "")
	if err != nil {
		return err
	}
	absent := maps.Clone(refused)
	maps.DeleteFunc(absent, func(_, why string) bool { return why != notHere })
	if len(refused) == len(absent) {
		return nil
	}
	if r.SkipAbsent {
		maps.DeleteFunc(refused, func(name, _ string) bool { return absent[name] != "" })
	}
	return &Refused{conn.Name(), refused}
}

// Divide tells what of a plan can be written on the running system, in the order
// in which it is written, from what takes effect at boot only.
func Divide(p plan.Plan) (now, boot []string, values map[string]string) {
	values, boot = map[string]string{}, []string{}
	for _, ch := range p.Changes {
		runtime := ch.Kind == catalog.Runtime || ch.Kind == catalog.Both || strings.HasSuffix(ch.Setting, "_load")
		if runtime && Supports(p.System, ch.Setting) == nil {
			now = append(now, ch.Setting)
			values[ch.Setting] = ch.To
		} else {
			boot = append(boot, ch.Setting)
		}
	}
	return now, boot, values
}

// begin opens a change; a confirmation that was cut off, which would exclude
// it, is finished first.
func (r Request) begin(ctx context.Context, conn host.Conn, settings []string, opt Options) (*Change, error) {
	c, err := Begin(ctx, conn, r.Plan.System, settings, opt)
	if !errors.Is(err, ErrPending) {
		return c, err
	}
	dir := opt.StateDir
	if dir == "" {
		place, err := Locate(ctx, conn)
		if err != nil {
			return nil, err
		}
		dir = place.Dir
	}
	entries, lerr := List(ctx, conn, dir)
	if lerr != nil {
		return nil, lerr
	}
	finished := Finish(ctx, conn, entries)
	if len(finished) == 0 {
		return nil, err
	}
	for _, f := range finished {
		r.Note("%s", f)
	}
	return Begin(ctx, conn, r.Plan.System, settings, opt)
}

// checkUnchanged compares a host with what the plan saw.
func checkUnchanged(p plan.Plan, old map[string]string) error {
	var differ []string
	for _, ch := range p.Changes {
		is, ok := old[ch.Setting]
		if ok && ch.From != "" && !Same(ch.Setting, is, ch.From) && !Same(ch.Setting, is, ch.To) {
			differ = append(differ, fmt.Sprintf("%s was %s and is %s", ch.Setting, ch.From, is))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; make the plan again, or apply it --anyway", ErrChanged, strings.Join(differ, "; "))
}

// undo takes everything back when the writing stopped or failed.
func (c *Change) undo(ctx context.Context, outcomes []Outcome, err error, note func(format string, args ...any)) error {
	lost := errors.Is(err, host.ErrUnreachable)
	why, lacks, setting := err, lost, ""
	if o := stopped(outcomes); err == nil && o != nil {
		if o.Refused != "" {
			setting = o.Setting
			lacks = o.Failure == host.Denied || strings.Contains(o.Refused, "Read-only file system")
			why = fmt.Errorf("%s: %s=%q is refused: %s", c.Host, o.Setting, o.Wanted, o.Refused)
		} else {
			why = fmt.Errorf("%s: %s is not as it was to be: %s", c.Host, o.Setting, o.Foreign)
		}
	}
	if why == nil {
		return nil
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	report, rerr := c.TakeBack(late, note)
	if rerr != nil {
		return &Undone{Err: fmt.Errorf("%w; it is not taken back from here: %w", why, rerr)}
	}
	left := slices.Concat(report.Foreign, report.Kept, report.Gone)
	for _, f := range left {
		note("%s", f)
	}
	back := "everything is taken back"
	if len(left) > 0 {
		back = "everything else is taken back"
	}
	if lost {
		back = "it is reached again, and " + back
	}
	return &Undone{Err: fmt.Errorf("%w; %s", why, back), Setting: setting, Lacks: lacks}
}
