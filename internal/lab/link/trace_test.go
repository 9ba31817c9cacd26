package link

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTraceRejects(t *testing.T) {
	for _, text := range []string{"", "0\n", "5\n3\n", "x\n", "-1\n", "1.5\n", "99999999999999\n"} {
		if _, err := ParseTrace(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// What has no end, never begins or is no file is refused without being waited for.
func TestTraceIsAFileOfSomeSize(t *testing.T) {
	dir := t.TempDir()
	fifo, huge, good := filepath.Join(dir, "fifo"), filepath.Join(dir, "huge"), filepath.Join(dir, "good")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40), os.WriteFile(good, []byte("# a trace\n1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, huge, dir, "/dev/zero", filepath.Join(dir, "none")} {
		if _, err := LoadTrace(path); err == nil {
			t.Errorf("%s was taken", path)
		}
		if l, err := Parse("trace=" + path); err != nil || l.CheckTraces() == nil {
			t.Errorf("a link with %s: %v", path, err)
		}
	}
	if trace, err := LoadTrace(good); err != nil || trace.Rate() != TraceBytes*8*1000 {
		t.Errorf("%v, %v", trace, err)
	}
}

func FuzzParseTrace(f *testing.F) {
	f.Add("1\n")
	f.Add("0\n0\n# pause\n\n7\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ParseTrace(strings.NewReader(text))
		if err == nil && !(trace.Rate() > 0) {
			t.Errorf("%q has the rate %s", text, trace.Rate())
		}
	})
}
