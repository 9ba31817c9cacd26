package store

import (
	"path/filepath"
	"sync"
	"testing"
)

// Several processes may open a history that none of them finds.
func TestOpenedTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
