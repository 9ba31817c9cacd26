package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// TempDir makes a folder for what lives as long as this process, and removes
// those of its kind that killed processes have left.
func TempDir(kind string) (string, error) {
	prefix := "wirerate-" + kind + "-"
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && n > 1 && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			os.RemoveAll(dir)
		}
	}
	return os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
}
