package host

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/wirerate/wirerate/internal/lock"
)

// Leftover is what a program leaves behind on this machine when it is killed.
type Leftover struct {
	Lock  string   // the file or folder that the program has locked
	Paths []string // files, mount points and then empty folders, in this order
	Tree  string   // a folder with all that is in it
}

// lockPatience is how long the lock of a program that is gone may take to go.
const lockPatience = 2 * time.Second

// remove removes it, unless somebody has the lock: the program itself, or a later
// one that uses the same names.
func (l Leftover) remove() {
	if l.Lock == "" {
		return
	}
	for until := time.Now().Add(lockPatience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(l.Lock); errors.Is(err, fs.ErrNotExist) {
			return // another agent did it
		}
		if done, err := lock.Abandoned(l.Lock, l.removeAll); done || err != nil {
			return
		}
	}
}

func (l Leftover) removeAll() error {
	for _, path := range l.Paths {
		unmount(path)
		os.Remove(path)
	}
	if l.Tree != "" {
		return os.RemoveAll(l.Tree)
	}
	return nil
}
