package change

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
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
	Failed []string `json:"failed"`
}

func rollback(ctx context.Context, conn host.Conn, dir string) (RollbackReport, error) {
	script := path.Join(dir, "rollback.sh")
	answers, err := conn.Do(ctx, runInside(script))
	if err != nil {
		return RollbackReport{}, fmt.Errorf("%s: %w; the way back is: sh %s", conn.Name(), err, script)
	}
	a := answers[0]
	said := sayings(string(a.Out))
	report := RollbackReport{all(said["restored"]), all(said["foreign"]), all(said["kept"]), all(said["booted"]), all(said["failed"])}
	for i := range report.Failed {
		report.Failed[i] = host.Reason(report.Failed[i])
	}
	if a.Status == 1 && len(report.Foreign)+len(report.Kept) > 0 {
		return report, nil
	}
	if a.Failure != host.None {
		return report, fmt.Errorf("%s: rollback is not complete: %s; try again with: sh %s", conn.Name(),
			together(report.Failed, a), script)
	}
	return report, nil
}

// all is a list that is not null in JSON.
func all(lines []string) []string { return append([]string{}, lines...) }

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
	stale, err := staleLock(ctx, conn, stateDir, entries)
	if stale != "" && (id == "" || id == stale) {
		return stale, RollbackReport{}, err
	}
	if err != nil {
		return id, RollbackReport{}, err
	}
	if id == "" {
		return "", RollbackReport{}, fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, RollbackReport{}, fmt.Errorf("%s: %w: %s; see wirerate status", conn.Name(), ErrNoChange, id)
}

// staleLock removes the lock of a change that ended before its scripts were
// written, so before anything was changed, and returns its ID.
func staleLock(ctx context.Context, conn host.Conn, stateDir string, entries []Entry) (string, error) {
	pending := path.Join(stateDir, "pending")
	answers, err := conn.Do(ctx, host.List(pending), host.Read(path.Join(pending, "id")))
	if err != nil {
		return "", fmt.Errorf("%s: %w", conn.Name(), err)
	}
	id := answers[1].Text()
	if len(answers[0].Out) == 0 || slices.ContainsFunc(entries, func(e Entry) bool { return e.ID == id }) {
		return "", nil
	}
	remove := []string{"rm", "-rf", pending}
	if IsID(id) {
		remove = append(remove, path.Join(stateDir, id))
	} else {
		id = "unfinished"
	}
	_, err = host.One(ctx, conn, host.Command(remove...))
	return id, err
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
				return e.ID, ConfirmReport{}, fmt.Errorf("%s: change %s cannot be confirmed: %s; take it back with: wirerate rollback %s", conn.Name(), e.ID, e.Problem, e.ID)
			}
			report, err := confirm(ctx, conn, e.Dir, anyway)
			return e.ID, report, err
		}
	}
	if id == "" {
		return "", ConfirmReport{}, fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, ConfirmReport{}, fmt.Errorf("%s: %w: %s; see wirerate status", conn.Name(), ErrNoChange, id)
}

func confirm(ctx context.Context, conn host.Conn, dir string, anyway bool) (ConfirmReport, error) {
	var more []string
	if anyway {
		more = []string{"WIRERATE_ANYWAY"}
	}
	answers, err := conn.Do(ctx, runInside(path.Join(dir, "confirm.sh"), more...))
	if err != nil {
		return ConfirmReport{}, fmt.Errorf("%s: %w; wirerate status tells whether it is confirmed", conn.Name(), err)
	}
	a := answers[0]
	said := sayings(string(a.Out))
	report := ConfirmReport{all(said["written"]), all(said["applied"]), all(said["foreign"])}
	if a.Status == 1 && len(report.Foreign) > 0 {
		return report, nil
	}
	if a.Failure != host.None {
		return report, fmt.Errorf("%s: not confirmed, and no file is changed: %s", conn.Name(),
			together(said["failed"], a))
	}
	return report, nil
}

// Finish completes the confirmations that were cut off, by a crash or a lost
// connection, and sets those entries' state. It returns what it did and what it
// could not do, a sentence each.
func Finish(ctx context.Context, conn host.Conn, entries []Entry) []string {
	var notes []string
	for i, e := range entries {
		if e.State != Confirming || e.Problem != "" {
			continue
		}
		report, err := confirm(ctx, conn, e.Dir, false)
		switch {
		case err != nil:
			notes = append(notes, fmt.Sprintf("the confirmation of change %s was cut off and cannot be finished: %v; take it back with: wirerate rollback %s", e.ID, err, e.ID))
		case len(report.Foreign) > 0:
			notes = append(notes, fmt.Sprintf("the confirmation of change %s was cut off and is not finished: %s; confirm it --anyway, or take it back with: wirerate rollback %s",
				e.ID, strings.Join(report.Foreign, "; "), e.ID))
		default:
			entries[i].State = Confirmed
			notes = append(notes, fmt.Sprintf("the confirmation of change %s was cut off; it is finished now: %d files written", e.ID, len(report.Written)))
		}
	}
	return notes
}
