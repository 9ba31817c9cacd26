package change

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/units"
)

// RollbackReport is what a rollback did.
type RollbackReport struct {
	Restored []string `json:"restored"`
	// Foreign are values and files that somebody else changed meanwhile; they
	// are left.
	Foreign []string `json:"foreign"`
	// Kept are values that the system does not take back while it runs.
	Kept []string `json:"kept"`
	// Booted are values that a reboot set: the change is gone with it.
	Booted []string `json:"booted"`
	// Gone are settings and files of what the host does not have any more: an
	// interface, a route, a module.
	Gone   []string `json:"gone"`
	Failed []string `json:"failed"`
}

func rollback(ctx context.Context, conn host.Conn, dir string) (RollbackReport, error) {
	script := path.Join(dir, "rollback.sh")
	answers, err := conn.Do(ctx, runInside(script))
	if err != nil {
		return RollbackReport{}, fmt.Errorf("%s: %w; the way back on the host itself is: sh %s", conn.Name(), err,
			shellWord(script))
	}
	a := answers[0]
	said := sayings(string(a.Out))
	report := RollbackReport{all(said["restored"]), all(said["foreign"]), all(said["kept"]), all(said["booted"]),
		all(said["gone"]), all(said["failed"])}
	for i := range report.Failed {
		report.Failed[i] = host.Reason(report.Failed[i])
	}
	if a.Status == 1 && len(report.Foreign)+len(report.Kept) > 0 {
		return report, nil
	}
	if a.Failure != host.None {
		return report, fmt.Errorf("%s: rollback is not complete: %s; the way back on the host itself is: sh %s",
			conn.Name(), together(report.Failed, a), shellWord(script))
	}
	return report, nil
}

// shellWord quotes a word for people, where it needs that.
func shellWord(s string) string {
	if plainName.MatchString(strings.TrimPrefix(s, "/")) {
		return s
	}
	return quote(s)
}

// all is a list that is not null in JSON.
func all[T any](lines []T) []T { return append([]T{}, lines...) }

// runInside runs a script of a journal on its host, which is inside the
// namespace already where there is one.
func runInside(script string, more ...string) host.Op {
	var b strings.Builder
	for _, name := range append([]string{"WIRERATE_INSIDE"}, more...) {
		fmt.Fprintf(&b, "%s=1; export %s\n", name, name)
	}
	fmt.Fprintf(&b, "exec sh %s\n", quote(script))
	return host.Script(b.String()).Within(limit(200))
}

// together joins what a script reported and what its programs said.
func together(failed []string, a host.Answer) string {
	if said := host.Reason(a.Stderr); said != "" {
		failed = append(slices.Clone(failed), said)
	}
	if len(failed) == 0 {
		return a.Err().Error()
	}
	return strings.Join(failed, "; ")
}

// sayings sorts the lines that a script printed by their first word.
func sayings(out string) map[string][]string {
	said := map[string][]string{}
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[word] = append(said[word], rest)
	}
	return said
}

// RollbackID takes back a change by its ID; an empty one means the last that
// is not confirmed. A lock whose change never got as far as a journal is
// removed.
func RollbackID(ctx context.Context, conn host.Conn, stateDir, id string) (string, RollbackReport, error) {
	entries, err := List(ctx, conn, stateDir)
	if err != nil {
		return id, RollbackReport{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.ID == id || id == "" && e.State != Confirmed && e.State != RolledBack {
			report, err := rollback(ctx, conn, e.Dir)
			return e.ID, report, err
		}
	}
	stale, err := StaleLock(ctx, conn, stateDir, entries)
	if err != nil {
		return id, RollbackReport{}, err
	}
	if stale != "" && (id == "" || id == stale) {
		return stale, RollbackReport{}, removeLock(ctx, conn, stateDir, stale)
	}
	if id == "" {
		return "", RollbackReport{}, fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, RollbackReport{}, fmt.Errorf("%s: %w: %s", conn.Name(), ErrNoChange, id)
}

// noID stands for the ID of a lock that holds none that can be read.
const noID = "unfinished"

// StaleLock returns the ID of a change that took the lock and has written no
// scripts yet, so changed nothing: it is beginning, or was cut off. It is empty
// where the entries know the owner or nothing holds the lock. RollbackID
// removes the lock.
func StaleLock(ctx context.Context, conn host.Conn, stateDir string, entries []Entry) (string, error) {
	pending := path.Join(stateDir, "pending")
	answers, err := conn.Do(ctx, host.List(pending), host.Read(path.Join(pending, "id")))
	if err != nil {
		return "", fmt.Errorf("%s: %w", conn.Name(), err)
	}
	id := answers[1].Text()
	if len(answers[0].Out) == 0 || slices.ContainsFunc(entries, func(e Entry) bool { return e.ID == id }) {
		return "", nil
	}
	if !IsID(id) {
		id = noID
	}
	return id, nil
}

// removeLock removes a stale lock and what its change had begun to write.
func removeLock(ctx context.Context, conn host.Conn, stateDir, id string) error {
	remove := []string{"rm", "-rf", path.Join(stateDir, "pending")}
	if id != noID {
		remove = append(remove, path.Join(stateDir, id))
	}
	_, err := host.One(ctx, conn, host.Command(remove...))
	return err
}

// ConfirmReport is what a confirmation did.
type ConfirmReport struct {
	Written []string `json:"written"` // files
	// Applied are settings that had their old values again, after a reboot
	// for example, and were written again.
	Applied []string `json:"applied"`
	// Foreign are values and files that somebody else changed meanwhile;
	// with any of them nothing is confirmed.
	Foreign []string `json:"foreign"`
}

// ConfirmID makes a change last by its ID; an empty one means the one that is
// pending. With anyway, what somebody else changed meanwhile does not stop it:
// settings stay as they are and files are replaced.
func ConfirmID(ctx context.Context, conn host.Conn, stateDir, id string, anyway bool) (string, ConfirmReport, error) {
	entries, err := List(ctx, conn, stateDir)
	if err != nil {
		return id, ConfirmReport{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.ID == id || id == "" && (e.State == Pending || e.State == Confirming) {
			if e.Problem != "" {
				return e.ID, ConfirmReport{}, fmt.Errorf("%s: change %s %w: %s", conn.Name(), e.ID, ErrCannotConfirm,
					e.Problem)
			}
			report, err := confirm(ctx, conn, e.Dir, anyway)
			return e.ID, report, err
		}
	}
	if id == "" {
		return "", ConfirmReport{}, fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, ConfirmReport{}, fmt.Errorf("%s: %w: %s", conn.Name(), ErrNoChange, id)
}

func confirm(ctx context.Context, conn host.Conn, dir string, anyway bool) (ConfirmReport, error) {
	var more []string
	if anyway {
		more = []string{"WIRERATE_ANYWAY"}
	}
	answers, err := conn.Do(ctx, runInside(path.Join(dir, "confirm.sh"), more...))
	if err != nil {
		return ConfirmReport{}, fmt.Errorf("%s: %w: %w", conn.Name(), ErrUnknown, err)
	}
	a := answers[0]
	said := sayings(string(a.Out))
	report := ConfirmReport{all(said["written"]), all(said["applied"]), all(said["foreign"])}
	if a.Status == 1 && len(report.Foreign) > 0 {
		return report, nil
	}
	if why := said["cut"]; len(why) > 0 {
		return report, fmt.Errorf("%s: change %s %w: %s", conn.Name(), path.Base(dir), ErrCannotConfirm, why[0])
	}
	if a.Failure == host.None && len(said["result"]) == 0 {
		return report, fmt.Errorf("%s: %w: %w", conn.Name(), ErrUnknown, errEndedEarly)
	}
	if a.Failure != host.None {
		return report, fmt.Errorf("%s: not confirmed, and no file is changed: %s", conn.Name(),
			together(said["failed"], a))
	}
	return report, nil
}

// ErrCannotConfirm is wrapped when a change can only be taken back: it is not in
// place as a whole, or its journal is damaged.
var ErrCannotConfirm = errors.New("cannot be confirmed")

// ErrUnknown is wrapped when nobody knows what became of a confirmation.
var ErrUnknown = errors.New("whether it is confirmed is not known")

// Finished is a confirmation that was cut off and that Finish went on with.
type Finished struct {
	ID      string
	Written []string // files
	Foreign []string // what somebody else changed: it is not finished
	Err     error    // why it is not finished
}

// Finish completes the confirmations that were cut off, by a crash or a lost
// connection, and sets those entries' state.
func Finish(ctx context.Context, conn host.Conn, entries []Entry) []Finished {
	var done []Finished
	for i, e := range entries {
		if e.State != Confirming || e.Problem != "" {
			continue
		}
		report, err := confirm(ctx, conn, e.Dir, false)
		if err == nil && len(report.Foreign) == 0 {
			entries[i].State = Confirmed
		}
		done = append(done, Finished{e.ID, report.Written, report.Foreign, err})
	}
	return done
}

// String says what became of it.
func (f Finished) String() string {
	switch {
	case f.Err != nil:
		return fmt.Sprintf("the confirmation of change %s was cut off and cannot be finished: %v", f.ID, f.Err)
	case len(f.Foreign) > 0:
		return fmt.Sprintf("the confirmation of change %s was cut off and is not finished: %s", f.ID,
			strings.Join(f.Foreign, "; "))
	}
	return fmt.Sprintf("the confirmation of change %s was cut off; it is finished now: %d files written", f.ID,
		len(f.Written))
}

// Open says whether the change still waits to be confirmed or taken back.
func (f Finished) Open() bool { return f.Err != nil || len(f.Foreign) > 0 }

// lostWait is how long a host that was lost is tried again.
const lostWait = time.Minute

// TakeBack rolls the change back, also on a host behind ssh whose connection was
// lost and comes back within a minute; else the host's own timer is left to it.
// What goes on meanwhile is told to note.
func (c *Change) TakeBack(ctx context.Context, note func(format string, args ...any)) (RollbackReport, error) {
	_, remote := c.conn.(*host.SSH)
	until := time.Now().Add(lostWait)
	for said := false; ; said = true {
		report, err := c.Rollback(ctx)
		if !errors.Is(err, host.ErrUnreachable) {
			if said && err == nil {
				note("%s is reached again: the change is taken back", c.conn.Name())
			}
			return report, err
		}
		if !remote || time.Now().After(until) || ctx.Err() != nil {
			return report, fmt.Errorf("%w; %s", err, c.WhenLost(time.Now()))
		}
		if !said {
			note("%s is lost: trying for %s to reach it and take the change back; %s", c.conn.Name(),
				units.Duration(lostWait), c.WhenLost(time.Now()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}
