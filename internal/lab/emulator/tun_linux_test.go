package emulator

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDeviceAdviceNamesWhatToChange(t *testing.T) {
	for _, c := range []struct{ advice, want string }{
		{DeviceAdvice(unix.EACCES), "chmod 666 /dev/net/tun"},
		{DeviceAdvice(unix.EPERM), "--device /dev/net/tun"},
		{DeviceAdvice(unix.ENOENT), "modprobe tun"},
	} {
		if !strings.Contains(c.advice, c.want) {
			t.Errorf("%q does not name %q", c.advice, c.want)
		}
	}
}
