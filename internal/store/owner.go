package store

import (
	"errors"
	"fmt"
	"os"

	"github.com/wirerate/wirerate/internal/lock"
)

// ErrRunning is wrapped where a trial cannot go on because its owner lives.
var ErrRunning = errors.New("it is still running")

// lockOf is the file beside the history whose lock the owner of a running trial
// holds.
func (s *Store) lockOf(id string) string { return s.path + "-" + id + ".lock" }

// own takes the lock of a trial.
func (s *Store) own(id string) error {
	held, err := lock.Hold(s.lockOf(id))
	if errors.Is(err, lock.ErrHeld) {
		return fmt.Errorf("%s cannot go on: %w", id, ErrRunning)
	}
	if err != nil {
		return s.wrap(err)
	}
	s.owns[id] = held
	return nil
}

// disown gives the locks of trials back and removes their files.
func (s *Store) disown(ids ...string) {
	for _, id := range ids {
		if held := s.owns[id]; held != nil {
			delete(s.owns, id)
			os.Remove(s.lockOf(id))
			held.Release()
		}
	}
}

// markKilled finds the trials that are marked as running and whose owner is
// gone. One that cannot be asked for counts as living.
func (s *Store) markKilled(all []Trial) {
	for i := range all {
		if all[i].State != Running {
			continue
		}
		if held, err := lock.Held(s.lockOf(all[i].ID)); err == nil && !held {
			all[i].State = Killed
		}
	}
}
