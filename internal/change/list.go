package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
)

// The states of a change on its host.
const (
	Pending    = "pending"
	Confirmed  = "confirmed"
	RolledBack = "rolled-back"
	Damaged    = "damaged" // its journal cannot be read; the rollback script may still work
)

// Entry is a change that a host's journals know.
type Entry struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Dir   string `json:"dir"`
	// Problem says what is wrong with the journal of a damaged entry.
	Problem string  `json:"problem,omitempty"`
	Journal Journal `json:"journal"`
}

var idPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`)

// ErrNoChange is wrapped when a host knows no such change.
var ErrNoChange = errors.New("no such change")

// List returns the changes that the journals in a folder know, oldest first.
func List(ctx context.Context, conn host.Conn, stateDir string) ([]Entry, error) {
	answers, err := conn.Do(ctx, host.List(path.Join(stateDir, "*", "rollback.sh")))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	var entries []Entry
	var ops []host.Op
	for line := range strings.Lines(string(answers[0].Out)) {
		dir := path.Dir(strings.TrimSpace(line))
		if id := path.Base(dir); idPattern.MatchString(id) {
			entries = append(entries, Entry{ID: id, Dir: dir})
			ops = append(ops, host.Read(path.Join(dir, "state")), host.Read(path.Join(dir, "journal.json")))
		}
	}
	if len(ops) == 0 {
		return nil, nil
	}
	if answers, err = conn.Do(ctx, ops...); err != nil {
		return nil, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	for i := range entries {
		entries[i].read(answers[2*i], answers[2*i+1])
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return entries, nil
}

func (e *Entry) read(state, journal host.Answer) {
	e.State = state.Text()
	if !slices.Contains([]string{Pending, Confirmed, RolledBack}, e.State) {
		e.State, e.Problem = Damaged, "its state file is missing or damaged"
	}
	if err := journal.Err(); err != nil {
		e.State, e.Problem = Damaged, err.Error()
		return
	}
	j, err := parseJournal(journal.Out)
	if err == nil && j.ID != e.ID {
		err = fmt.Errorf("it belongs to change %q", j.ID)
	}
	if err != nil {
		e.State, e.Problem = Damaged, "journal.json: "+err.Error()
		return
	}
	e.Journal = j
}

// parseJournal reads a journal and refuses one that was cut or edited into
// something that no journal is.
func parseJournal(data []byte) (Journal, error) {
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil {
		return j, fmt.Errorf("damaged: %w", err)
	}
	if j.Schema != JournalSchema {
		return j, fmt.Errorf("schema %d is not known, only %d", j.Schema, JournalSchema)
	}
	for _, it := range j.Items {
		if _, err := knobFor(j.System, it.Setting); err != nil {
			return j, fmt.Errorf("damaged: %w", err)
		}
	}
	return j, nil
}

// RollbackID takes back a change by its ID; an empty one means the last that
// is pending.
func RollbackID(ctx context.Context, conn host.Conn, stateDir, id string) (string, RollbackReport, error) {
	entries, err := List(ctx, conn, stateDir)
	if err != nil {
		return id, RollbackReport{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.ID == id || id == "" && (e.State == Pending || e.State == Damaged) {
			report, err := rollback(ctx, conn, e.Dir)
			return e.ID, report, err
		}
	}
	if id == "" {
		return "", RollbackReport{}, fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, RollbackReport{}, fmt.Errorf("%s: %w: %s; see wirerate status", conn.Name(), ErrNoChange, id)
}

// IsID tells whether a word is the ID of a change.
func IsID(s string) bool { return idPattern.MatchString(s) }
