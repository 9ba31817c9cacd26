package canary

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/terminal"
)

// stateLimit bounds a file of a canary: some 400 bytes a host.
const stateLimit = 256 * input.MiB

// Load reads a canary.
func Load(file string) (*State, error) {
	data, err := input.File(file, stateLimit)
	if err != nil {
		return nil, err
	}
	var s State
	if err := input.JSON(file, data, &s); err != nil {
		return nil, err
	}
	if s.Schema != stateSchema || len(s.Steps) == 0 || len(s.Hosts) == 0 {
		return nil, fmt.Errorf("%s is not a canary file of this program; canary design makes one", file)
	}
	sum, err := s.sum()
	if err != nil {
		return nil, err
	}
	if sum != s.Sum {
		return nil, fmt.Errorf("%s was edited or is damaged: what it says is not what was designed and judged; "+
			"restore it, or design anew", file)
	}
	return &s, s.valid(file)
}

// sum is what Sum is of the canary as it stands, once read from its file.
func (s *State) sum() (string, error) {
	data, err := json.Marshal(s)
	var read State
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err == nil {
		read.Sum = ""
		data, err = json.Marshal(read)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// valid refuses a file that was edited into something that cannot be judged.
func (s *State) valid(file string) error {
	metrics := 1 + len(s.Design.Guards)
	for _, h := range s.Hosts {
		if len(h.Before) != metrics || len(h.Facts) != len(s.Design.Blocks) || h.Step < 0 || h.Step > len(s.Steps) {
			return fmt.Errorf("%s: host %s is damaged; restore the file or design anew", file, h.Name)
		}
	}
	for j, m := range s.Design.metrics() {
		for _, h := range s.Hosts {
			if h.Before[j] != nil && m.Mean == 0 && !(*h.Before[j] > 0) {
				return fmt.Errorf("%s: host %s is damaged; restore the file or design anew", file, h.Name)
			}
		}
	}
	return s.Design.check()
}

// Save writes a canary so that its file is whole at any time.
func (s *State) Save(file string) error {
	sum, err := s.sum()
	if err != nil {
		return err
	}
	s.Sum = sum
	data, err := terminal.JSON(s, "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}
