package conffile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var lineKinds = []Kind{Sysctl, Loader, RC, Modprobe, PF}

// TestLines: what is written in the midst of a file is read as that setting
// with that value and as nothing else.
func TestLines(t *testing.T) {
	written := 0
	text := rapid.OneOf(rapid.SampledFrom([]string{"net.ipv4.tcp_rmem", "pf_enable", "cc_cubic_load", "pf:set/limit/states", "module:zfs/zfs_arc_max", "1", "4096 131072 6291456", "YES", "$(id)", "`id`",
		`"`, `\`, "'", "a\nb=1", "1 # x", "1; id", "1 }", "\u202e1", "\x00", "a=b", "-a", "*", "", " ", "${x}", strings.Repeat("x", 300)}), rapid.String(), rapid.StringMatching("[a-z_.]{1,8}"))
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom(lineKinds).Draw(r, "kind")
		system := rapid.SampledFrom([]System{Linux, FreeBSD, OpenBSD}).Draw(r, "system")
		setting, value := text.Draw(r, "setting"), text.Draw(r, "value")
		line, err := Line(kind, system, setting, value)
		if err != nil {
			return
		}
		written++
		f, err := Parse(kind, system, "", []byte("# before\n"+line+"# after\n"))
		if err != nil || len(f.Rejects) > 0 || strings.Count(line, "\n") != 1 {
			r.Fatalf("%q: %v %v", line, err, f.Rejects)
		}
		for _, e := range f.Entries {
			if !e.Has(Part) && (e.Line != 2 || e.Value != value || e.Name != setting && e.Key != setting) {
				r.Fatalf("%q is read as %+v", line, e)
			}
		}
	})
	if written == 0 {
		t.Error("no line was written")
	}
}

// TestRCLinesInAShell sources lines of rc.conf as rc(8) does: they assign, and
// run nothing.
func TestRCLinesInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh: rc.conf is not sourced")
	}
	dir := t.TempDir()
	for _, value := range []string{"YES", "$(id >PWNED)", "`id >PWNED`", `";id >PWNED;"`, `\`, `\";id >PWNED`, "${HOME}", "'", "a b  c", "!x", "#", `\\"`} {
		line, err := Line(RC, FreeBSD, "some_value", value)
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		cmd := exec.Command(sh, "-c", line+`printf %s "$some_value"`)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if left, _ := os.ReadDir(dir); err != nil || string(out) != value || len(left) > 0 {
			t.Errorf("%q: %s is read as %q, %v, and left %v in %s", value, line, out, err, left, filepath.Base(dir))
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"1", "$(id)", "a\nb = 1", `"`, "1 # x", "\u202e"} {
		f.Add(byte(len(s)), "net.ipv4.x", s)
		f.Add(byte(len(s)), s, "1")
	}
	f.Fuzz(func(t *testing.T, choice byte, setting, value string) {
		kind, system := lineKinds[int(choice)%len(lineKinds)], []System{Linux, FreeBSD, OpenBSD}[int(choice)/8%3]
		line, err := Line(kind, system, setting, value)
		if err != nil {
			return
		}
		read, err := Parse(kind, system, "", []byte(line+line))
		if err != nil || len(read.Rejects) > 0 {
			t.Fatalf("%q: %v %v", line, err, read.Rejects)
		}
		for _, e := range read.Entries {
			if !e.Has(Part) && (e.Value != value || e.Name != setting && e.Key != setting) {
				t.Fatalf("%q is read as %+v", line, e)
			}
		}
	})
}
