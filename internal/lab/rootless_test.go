//go:build linux

package lab

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAdviceNamesWhatToChange(t *testing.T) {
	for _, c := range []struct{ advice, want string }{
		{namespaceAdvice(unix.EPERM), "kernel.unprivileged_userns_clone=1"},
		{namespaceAdvice(unix.ENOSPC), "sysctl"},
		{namespaceAdvice(unix.EMFILE), "ulimit -n"},
		{namespaceAdvice(unix.EAGAIN), "ulimit -u"},
	} {
		if !strings.Contains(c.advice, c.want) {
			t.Errorf("%q does not name %q", c.advice, c.want)
		}
	}
}
