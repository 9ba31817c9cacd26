package lock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain is also the owner that a test ends: it holds the lock of its argument
// until its standard input ends.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOCK_TEST_HOLDS"); path != "" {
		if _, err := Hold(path); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// owner starts a process that holds the lock of path, as prepare has it.
func owner(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, self)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LOCK_TEST_HOLDS="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the owner says %q", line)
	}
	return cmd
}

func held(t *testing.T, path string, want bool) {
	t.Helper()
	if is, err := Held(path); err != nil || is != want {
		t.Errorf("held: %v, %v; want %v", is, err, want)
	}
}

// TestLockEndsWithItsOwner kills the owner, of a file and of a folder.
func TestLockEndsWithItsOwner(t *testing.T) {
	for name, path := range map[string]string{"file": filepath.Join(t.TempDir(), "f"), "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			cmd := owner(t, path)
			held(t, path, true)
			if _, err := Hold(path); !errors.Is(err, ErrHeld) {
				t.Errorf("a second owner: %v", err)
			}
			if did, err := Abandoned(path, func() error { return os.RemoveAll(path) }); did || err != nil {
				t.Errorf("removed under its owner: %v", err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			held(t, path, false)
			if did, err := Abandoned(path, func() error { return os.RemoveAll(path) }); !did || err != nil {
				t.Errorf("abandoned: %v, %v", did, err)
			}
			held(t, path, false)
		})
	}
}

// TestLockAcrossPIDNamespaces: in another one the owner's number is unknown or
// somebody else's.
func TestLockAcrossPIDNamespaces(t *testing.T) {
	if out, err := exec.Command("unshare", "-rpf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no PID namespaces here: %v: %s", err, out)
	}
	path := filepath.Join(t.TempDir(), "f")
	owner(t, path, "unshare", "-rpf", "--mount-proc")
	held(t, path, true)
}

// TestLockIsInherited: what a child was given keeps the lock.
func TestLockIsInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	l, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	with, without := exec.Command("sleep", "1000"), exec.Command("sleep", "1000")
	with.ExtraFiles = []*os.File{l.File()}
	for _, cmd := range []*exec.Cmd{with, without} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	held(t, path, true)
	with.Process.Kill()
	with.Wait()
	held(t, path, false)
}

// TestRefused: what another user may have put in the lock's place.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	target, link, fifo := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, fifo} {
		if _, err := Hold(path); err == nil {
			t.Errorf("%s: taken", path)
		}
		if did, err := Abandoned(path, func() error { return nil }); did || err == nil {
			t.Errorf("%s: %v, %v", path, did, err)
		}
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// TestReplacedInBetween: the lock of a file that is not in its place any more is
// nobody's.
func TestReplacedInBetween(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	first, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	if same(first.file, path) || !same(second.file, path) {
		t.Error("the place of the lock is mistaken")
	}
}
