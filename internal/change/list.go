package change

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
)

// The states of a change on its host.
const (
	Pending    = "pending"
	Confirming = "confirming" // its files are being written, or that was cut off
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
	Problem string `json:"problem,omitempty"`
	// Rebooted says that the machine was started again since the change was
	// applied, so that nothing of a pending one is in place; DriftOf finds it.
	Rebooted bool `json:"rebooted,omitempty"`
	// Unfinished says why a pending change is not in place as a whole, apply
	// having been cut off for example; DriftOf finds it.
	Unfinished string  `json:"unfinished,omitempty"`
	Journal    Journal `json:"journal"`
}

var idPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`)

// ErrNoChange is wrapped when a host knows no such change.
var ErrNoChange = errors.New("no such change")

// List returns the changes that the journals in a folder know, oldest first.
func List(ctx context.Context, conn host.Conn, stateDir string) ([]Entry, error) {
	answers, err := conn.Do(ctx, host.List(path.Join(stateDir, "*", "rollback.sh")), host.Read(stateDir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	if answers[1].Failure == host.Denied {
		return nil, unreadable(conn, stateDir, answers[1])
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
		if answers[2*i].Failure == host.Denied {
			return nil, unreadable(conn, stateDir, answers[2*i])
		}
		entries[i].read(answers[2*i], answers[2*i+1])
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return entries, nil
}

// unreadable says that the journals are root's.
func unreadable(conn host.Conn, stateDir string, a host.Answer) error {
	return fmt.Errorf("%s: the journals in %s cannot be read: permission denied; %s%w", conn.Name(), stateDir,
		needsRoot, silent{a.Err()})
}

func (e *Entry) read(state, journal host.Answer) {
	e.State = state.Text()
	if !slices.Contains([]string{Pending, Confirming, Confirmed, RolledBack}, e.State) {
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

// journalSchema is the version of the journal's JSON.
const journalSchema = 2

// Sealed is a journal as it lies on the disk: with the SHA-256 sum of its
// encoding without the sum.
type Sealed struct {
	Journal
	Sum string `json:"sha256"` // hexadecimal
}

func (j Journal) encode() ([]byte, error) {
	plain, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(Sealed{j, fmt.Sprintf("%x", sha256.Sum256(plain))}, "", " ")
	return append(data, '\n'), err
}

// parseJournal reads a journal and refuses one that was cut or edited.
func parseJournal(data []byte) (Journal, error) {
	var s Sealed
	if err := json.Unmarshal(data, &s); err != nil {
		return Journal{}, fmt.Errorf("damaged: %w", err)
	}
	j := s.Journal
	if j.Schema != journalSchema {
		return Journal{}, fmt.Errorf("schema %d is not known, only %d", j.Schema, journalSchema)
	}
	if again, err := j.encode(); err != nil || !bytes.Equal(again, data) {
		return Journal{}, errors.New("damaged: it is not as it was written")
	}
	for i, it := range j.Items {
		k, err := knobFor(j.System, it.Setting, "")
		if err != nil {
			return Journal{}, fmt.Errorf("damaged: %w", err)
		}
		j.Items[i].knob = k
	}
	return j, nil
}

// IsID tells whether a word is the ID of a change.
func IsID(s string) bool { return idPattern.MatchString(s) }
