package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

func ptr(n int64) *int64 { return &n }

// small is a catalog of made-up settings, so that these tests hold whatever
// becomes of the real ones.
func small(t testing.TB) *catalog.Catalog {
	t.Helper()
	records := []catalog.Record{
		{Name: "net.core.plain", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"},
			Range: &catalog.Range{Min: ptr(0), Max: ptr(1000)}, Default: catalog.Defaults{{Value: "100"}}},
		{Name: "net.core.bounded", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"},
			Range: &catalog.Range{Max: ptr(255), Since: "6.0", Before: &catalog.Range{Max: ptr(1000), Since: "5.0"}}},
		{Name: "net.core.newdefault", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"},
			Default: catalog.Defaults{{Value: "100"}, {Since: "6.0", Value: "1000"}},
			Judge:   []catalog.Judgement{{Code: "below-default", When: "value < standard", Because: "Less."}}},
		{Name: "net.core.byMemory", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeTriple, Belongs: []string{"sysctl"},
			Default: catalog.Defaults{{Value: "computed", Formula: "triple(1, 2, memory / KiB)"}},
			Judge: []catalog.Judgement{{Code: "below-default", Severity: "warning", When: "high < standard", Because: "Less."},
				{Code: "harmful", Severity: "error", When: "high > memory / 4", Because: "Too much."}}},
		{Name: "net.core.onrouter", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeBool, Belongs: []string{"sysctl"},
			Judge: []catalog.Judgement{{Code: "harmful", When: `role == "router" and value == 1`, Because: "Forwarding."}}},
		{Name: "net.core.old", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Removed: "5.0", Became: "Gone."},
		{Name: "net.core.word", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeEnum, Belongs: []string{"sysctl"},
			Values: []catalog.Value{{Value: "a"}, {Value: "b", Since: "6.0"}}},
		{Name: "net.core.apart", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Conflicts: []string{"net.core.plain=5"}},
		{Name: "net.ipv4.conf.*.x", System: catalog.Linux, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}},
		{Name: "net.inet.boot", System: catalog.FreeBSD, Kind: catalog.Boot, Type: catalog.TypeInt, Belongs: []string{"loader"},
			Sources: []string{"sys/net/boot.c"}},
		{Name: "net.inet.told", System: catalog.FreeBSD, Kind: catalog.Boot, Type: catalog.TypeInt, Belongs: []string{"loader"},
			Sources: []string{"stand/defaults/loader.conf"}},
		{Name: "net.inet.run", System: catalog.FreeBSD, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Aliases: []string{"net.inet.alias"}},
		{Name: "net.inet.algo", System: catalog.FreeBSD, Kind: catalog.Runtime, Type: catalog.TypeString, Belongs: []string{"sysctl"},
			Default: catalog.Defaults{{Value: "one"}}, Values: []catalog.Value{{Value: "one"}, {Value: "two", Needs: "cc_two_load"}}},
		{Name: "net.inet.never", System: catalog.FreeBSD, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Removed: "1.0", Became: "Never existed."},
		{Name: "cc_two_load", System: catalog.FreeBSD, Kind: catalog.Boot, Type: catalog.TypeBool, Belongs: []string{"loader"}},
		{Name: "net.inet.both", System: catalog.FreeBSD, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Range: &catalog.Range{Max: ptr(5)}},
		{Name: "net.inet.both", System: catalog.OpenBSD, Kind: catalog.Runtime, Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Range: &catalog.Range{Max: ptr(9)}},
		{Name: "hw.igb.x", System: catalog.FreeBSD, Kind: catalog.Boot, Type: catalog.TypeInt, Belongs: []string{"loader"}, Drivers: []string{"igb", "em"}},
		{Name: "ifconfig:lro", System: catalog.FreeBSD, Kind: catalog.Runtime, Type: catalog.TypeBool, Belongs: []string{"rc", "ifconfig"},
			Judge: []catalog.Judgement{{Code: "harmful", When: `role == "router" and value == 1`, Because: "Merged packets."}}},
	}
	files := fstest.MapFS{}
	for _, system := range catalog.Systems() {
		own := slices.DeleteFunc(slices.Clone(records), func(r catalog.Record) bool { return r.System != system })
		text, err := yaml.MarshalWithOptions(struct {
			System   catalog.System
			Settings []catalog.Record
		}{system, own}, yaml.IndentSequence(true))
		if err != nil {
			t.Fatal(err)
		}
		files[string(system)+"/records.yaml"] = &fstest.MapFile{Data: text}
	}
	c, err := catalog.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files builds inputs from path, text pairs.
func files(pairs ...string) []Input {
	var in []Input
	for i := 0; i < len(pairs); i += 2 {
		in = append(in, Input{Path: pairs[i], Text: pairs[i+1]})
	}
	return in
}

func list(res *Result) string {
	var b strings.Builder
	for _, p := range res.Problems {
		fmt.Fprintf(&b, "%s:%d:%d %s %s\n", p.File, p.Line, p.Column, p.Code, p.Severity)
	}
	for _, err := range res.Errors {
		fmt.Fprintf(&b, "! %v\n", err)
	}
	return b.String()
}

const sysctlConf, loaderConf = "/etc/sysctl.conf", "/boot/loader.conf"

func TestRun(t *testing.T) {
	router := Options{Role: "router"}
	running := Options{Machine: &Machine{Running: func(name, _ string) (string, bool) { return "7", name == "net.core.plain" }}}
	memory := func(n float64) Options { return Options{Machine: &Machine{Inputs: catalog.Inputs{"memory": n}}} }
	tests := []struct {
		name string
		in   []Input
		opt  Options
		want string
	}{
		{"a number is refused", files(sysctlConf, "net.core.plain=12x\n"), Options{}, "/etc/sysctl.conf:1:16 bad-value error\n"},
		{"a template is not judged", files(sysctlConf, "net.core.plain={{ x }}\nnet.core.plain2=${y}\n"), Options{}, ""},
		{"a comment behind a number is not read", files(sysctlConf, "net.core.plain = 0x10 # c\n"), Options{}, "/etc/sysctl.conf:1:18 syntax info\n"},
		{"a comment behind a word is", files(sysctlConf, "net.core.word = a # c\n"), Options{}, "/etc/sysctl.conf:1:17 bad-value error\n"},
		{"range", files(sysctlConf, "net.core.plain = 1001\n"), Options{}, "/etc/sysctl.conf:1:18 out-of-range error\n"},
		{"a range of one release", files(sysctlConf, "net.core.bounded = 256\n"), Options{System: catalog.Linux, Version: "6.1"}, "/etc/sysctl.conf:1:20 out-of-range error\n"},
		{"what the release before takes", files(sysctlConf, "net.core.bounded = 256\n"), Options{System: catalog.Linux, Version: "5.10"}, ""},
		{"what it refuses too", files(sysctlConf, "net.core.bounded = 1001\n"), Options{System: catalog.Linux, Version: "5.10"}, "/etc/sysctl.conf:1:20 out-of-range error\n"},
		{"a range of newer releases alone is no error", files(sysctlConf, "net.core.bounded = 256\n"), Options{}, "/etc/sysctl.conf:1:20 out-of-range warning\n"},
		{"an interface", files(sysctlConf, "net/ipv4/conf/eth0.1/x = y\n"), Options{}, "/etc/sysctl.conf:1:26 bad-value error\n"},
		{"default", files(sysctlConf, "net.core.plain = 100\n"), Options{}, "/etc/sysctl.conf:1:18 same-as-default info\n"},
		{"the default of one release only is no default", files(sysctlConf, "net.core.newdefault = 1000\n"), Options{}, ""},
		{"a newer default makes a warning", files(sysctlConf, "net.core.newdefault = 500\n"), Options{}, "/etc/sysctl.conf:1:23 below-default warning\n"},
		{"and when the release is known", files(sysctlConf, "net.core.newdefault = 500\n"), Options{System: catalog.Linux, Version: "6.1"}, "/etc/sysctl.conf:1:23 below-default warning\n"},
		{"nothing in a release before", files(sysctlConf, "net.core.newdefault = 500\n"), Options{System: catalog.Linux, Version: "5.10"}, ""},
		{"an assumed default makes an info", files(sysctlConf, "net.core.byMemory = 1 2 4194304\n"), Options{}, "/etc/sysctl.conf:1:21 below-default info\n"},
		{"unless it is much larger", files(sysctlConf, "net.core.byMemory = 1 2 3\n"), Options{}, "/etc/sysctl.conf:1:21 below-default warning\n"},
		{"a known one a warning", files(sysctlConf, "net.core.byMemory = 1 2 3\n"), memory(1 << 30), "/etc/sysctl.conf:1:21 below-default warning\n"},
		{"harm needs the machine", files(sysctlConf, "net.core.byMemory = 1 2 999999999\n"), Options{}, ""},
		{"harm to the machine", files(sysctlConf, "net.core.byMemory = 1 2 999999999\n"), memory(1 << 30), "/etc/sysctl.conf:1:21 harmful error\n"},
		{"a triple cut short", files(sysctlConf, "net.core.byMemory = 1 2\n"), memory(1 << 10), "/etc/sysctl.conf:1:21 bad-value warning\n"},
		{"role", files(sysctlConf, "net.core.onrouter = 1\n"), router, "/etc/sysctl.conf:1:21 harmful warning\n"},
		{"no role", files(sysctlConf, "net.core.onrouter = 1\n"), Options{}, ""},
		{"removed everywhere", files(sysctlConf, "net.core.old = 1\n"), Options{System: catalog.Linux, Version: "5.0"}, "/etc/sysctl.conf:1:1 removed warning\n"},
		{"errors ignored", files(sysctlConf, "-net.core.old = 1\n"), Options{}, "/etc/sysctl.conf:1:2 removed info\n"},
		{"not removed yet", files(sysctlConf, "net.core.old = 1\n"), Options{System: catalog.Linux, Version: "4.18"}, ""},
		{"a later word", files(sysctlConf, "net.core.word = b\n"), Options{System: catalog.Linux, Version: "5.10"}, "/etc/sysctl.conf:1:17 bad-value warning\n"},
		{"an unknown word", files(sysctlConf, "net.core.word = c\n"), Options{}, "/etc/sysctl.conf:1:17 bad-value warning\n"},
		{"conflict", files(sysctlConf, "net.core.apart = 1\nnet.core.plain = 5\n"), Options{}, "/etc/sysctl.conf:1:1 conflict warning\n"},
		{"no conflict with another value", files(sysctlConf, "net.core.apart = 1\nnet.core.plain = 6\n"), Options{}, ""},
		{"duplicate in two spellings", files(sysctlConf, "net.core.plain = 5\nnet/core/plain = 6\n"), Options{}, "/etc/sysctl.conf:1:1 duplicate warning\n"},
		{"duplicate under two names", files(sysctlConf, "net.inet.run = 5\nnet.inet.alias = 5\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 duplicate info\n"},
		{"files of two machines", files("a/etc/sysctl.conf", "net.core.plain = 5\n", "b/etc/sysctl.conf", "net.core.plain = 6\n"), Options{}, ""},
		{"files without a place", files("a-sysctl.conf", "net.core.plain = 5\n", "b-sysctl.conf", "net.core.plain = 6\n"), Options{}, ""},
		{"order of sysctl.d", files("/etc/sysctl.d/50-a.conf", "net.core.plain = 5\n", "/run/sysctl.d/40-b.conf", "net.core.plain = 6\n"), Options{}, "/run/sysctl.d/40-b.conf:1:1 overridden warning\n"},
		{"sysctl.conf is last", files("/etc/sysctl.d/90-a.conf", "net.core.plain = 5\n", sysctlConf, "net.core.plain = 6\n"), Options{}, "/etc/sysctl.d/90-a.conf:1:1 overridden warning\n"},
		{"or not, by who reads it", files("/etc/sysctl.d/99-z.conf", "net.core.plain = 5\n", sysctlConf, "net.core.plain = 6\n"), Options{}, ""},
		{"masked", files("/etc/sysctl.d/a.conf", "net.core.plain = 5\n", "/lib/sysctl.d/a.conf", "net.core.plain = 6\n"), Options{}, "/lib/sysctl.d/a.conf:1:1 overridden warning\n"},
		{"wrong file", files(sysctlConf, "net.inet.boot=1\n", loaderConf, "net.inet.run=1\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 wrong-file error\n/boot/loader.conf:1:1 wrong-file warning\n"},
		{"a tunable that is only documented", files(sysctlConf, "net.inet.told=1\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 wrong-file warning\n"},
		{"tunable with a suffix", files(loaderConf, "net.inet.boot=\"64M\"\n"), Options{}, ""},
		{"a module is missing", files(sysctlConf, "net.inet.algo=two\n", loaderConf, "x=1\n", "/etc/rc.conf", "a_enable=YES\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 needs warning\n"},
		{"a service loads the module", files(sysctlConf, "net.inet.algo=two\n", loaderConf, "x=1\n", "/etc/rc.conf", "cc_two_enable=YES\n"), Options{System: catalog.FreeBSD}, ""},
		{"a module may be loaded elsewhere", files(sysctlConf, "net.inet.algo=two\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 needs info\n"},
		{"a module is loaded", files(sysctlConf, "net.inet.algo=two\n", "/etc/rc.conf", "kld_list=\"cc_two\"\n"), Options{System: catalog.FreeBSD}, ""},
		{"the default needs no module", files(sysctlConf, "net.inet.algo=one\n", loaderConf, "x=1\n", "/etc/rc.conf", "y=1\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:15 same-as-default info\n"},
		{"a group of settings", files(sysctlConf, "net.inet=1\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 unknown-key warning\n"},
		{"a setting that never was", files(sysctlConf, "net.inet.never=1\n"), Options{System: catalog.FreeBSD}, "/etc/sysctl.conf:1:1 removed warning\n"},
		{"a file that fits two systems", files(sysctlConf, "net.inet.both=7\n"), Options{}, ""},
		{"and has a problem on both", files(sysctlConf, "net.inet.both=10\n"), Options{}, "/etc/sysctl.conf:1:15 out-of-range error\n"},
		{"wrong system", files(sysctlConf, "net.core.plain=1\n"), Options{System: catalog.OpenBSD}, "/etc/sysctl.conf:1:1 wrong-system error\n"},
		{"driver", files(loaderConf, "hw.igb.x=\"1\"\n"), Options{Driver: "ix"}, "/boot/loader.conf:1:1 driver warning\n"},
		{"rc options by role", files("/etc/rc.conf", "ifconfig_em0=\"up lro\"\n"), router, "/etc/rc.conf:1:18 harmful warning\n"},
		{"drift", files(sysctlConf, "net.core.plain=8\n"), running, "/etc/sysctl.conf:1:16 drift info\n"},
		{"no drift", files(sysctlConf, "net.core.plain=0x7\n"), running, ""},
		{"syntax", files(sysctlConf, "net.core.plain 8\n"), Options{}, "/etc/sysctl.conf:1:1 syntax warning\n"},
		{"binary", files(sysctlConf, "net.core.plain=\x00\n"), Options{}, "! /etc/sysctl.conf: not a configuration file, it holds a NUL byte at offset 15: binary data\n"},
		{"no kind", files("README", "hello\n"), Options{}, "! README: cannot tell what kind of file this is; say so with --kind\n"},
		{"kind given", files("README", "net.core.plain=12x\n"), Options{Kind: conffile.Sysctl, System: catalog.Linux}, "README:1:16 bad-value error\n"},
	}
	c := small(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := Run(c, tt.in, tt.opt)
			if diff := cmp.Diff(tt.want, list(res)); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s%s", diff, brief(res))
			}
		})
	}
}

func TestSuppression(t *testing.T) {
	c := small(t)
	for _, tt := range []struct {
		text string
		want int
	}{
		{"net.core.plain=1001\n", 1},
		{"# wirerate: ignore out-of-range our kernel is patched\nnet.core.plain=1001\n", 0},
		{"# wirerate: ignore out-of-range,removed why\n\n# more\nnet.core.plain=1001\n", 0},
		{"# wirerate: ignore removed why\nnet.core.plain=1001\n", 1},
		{"# wirerate: ignore out-of-range why\nnet.core.apart=1\nnet.core.plain=1001\n", 1},
		{"net.core.plain=1001 # wirerate: ignore out-of-range why\n", 0},
		{"# wirerate: ignore * why\nnet.core.plain=1001\n", 0},
	} {
		res := Run(c, files(sysctlConf, tt.text), Options{System: catalog.Linux})
		if len(res.Problems) != tt.want {
			t.Errorf("%q: %d problems, want %d:%s", tt.text, len(res.Problems), tt.want, brief(res))
		}
	}
}

func TestFixes(t *testing.T) {
	c := small(t)
	opt := Options{System: catalog.FreeBSD}
	in := files(sysctlConf, "# mine\nnet.inet.boot = 1 # boot\nnet.core.plain=1\r\nnet.inet.run=1\n", loaderConf, "x=\"1\"\n")
	res := Run(c, in, opt)
	fixed, notes, err := ApplyFixes(in, res)
	if err != nil || len(notes) != 0 || len(fixed) != 2 {
		t.Fatalf("%d files, notes %q, %v", len(fixed), notes, err)
	}
	want := "# mine\n# wirerate: moved to /boot/loader.conf: read at boot only\n#net.inet.boot = 1 # boot\n" +
		"# wirerate: net.core.plain is a setting of Linux; FreeBSD has none of that name\n#net.core.plain=1\r\nnet.inet.run=1\n"
	if got := string(fixed[0].New); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if got, want := string(fixed[1].New), "x=\"1\"\nnet.inet.boot=\"1\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// What was corrected needs no correction.
	again := files(sysctlConf, string(fixed[0].New), loaderConf, string(fixed[1].New))
	if fixed, _, err := ApplyFixes(again, Run(c, again, opt)); err != nil || len(fixed) != 0 {
		t.Errorf("a second time: %d files, %v", len(fixed), err)
	}
	// Without the other file the user is told.
	_, notes, err = ApplyFixes(in[:1], Run(c, in[:1], opt))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], `net.inet.boot="1"`) {
		t.Errorf("notes %q, %v", notes, err)
	}
}

func TestMaxProblems(t *testing.T) {
	text := strings.Repeat("net.core.plain=x\n", MaxProblems+10)
	res := Run(small(t), files(sysctlConf, text), Options{})
	if len(res.Problems) != MaxProblems || res.Dropped == 0 {
		t.Errorf("%d problems, %d dropped", len(res.Problems), res.Dropped)
	}
}

// FuzzRun checks that any file is judged, and corrected into one that needs no
// further correction.
func FuzzRun(f *testing.F) {
	f.Add(sysctlConf, "net.core.plain = 1001 # c\n-net.core.old=1\nnet.inet.boot=1\n")
	f.Add(loaderConf, "net.inet.run=\"1\"\nhw.igb.x=1\n")
	f.Add("a.link", "[Match]\nOriginalName=e\n[Link]\nRxBuferSize=0\nMTUBytes=a\n[Foo/Link]\nx=\n")
	f.Add("/proc/cmdline", "quiet sysctl.net.core.plain=2000 sysctl.net.core.old=1 a.b=c\n")
	f.Add("/etc/pf.conf", "pass proto tcp no state\nmatch inet set queue a\n")
	f.Add("/etc/rc.conf", "ifconfig_em0=\"up lro\"\ncc_two_load=\"YES\"\n")
	f.Add("rc.local", "#!/bin/sh\nsysctl net.core.old=1 net.core.plain=2\n")
	c := small(f)
	f.Fuzz(func(t *testing.T, path, text string) {
		in := files(path, text)
		res := Run(c, in, Options{})
		for _, p := range res.Problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || !slices.ContainsFunc(Codes(), func(c Code) bool { return c.ID == p.Code }) {
				t.Fatalf("%+v", p)
			}
		}
		if slices.ContainsFunc(res.Problems, func(p Problem) bool { return p.Code == "syntax" && p.Severity == Error }) {
			return
		}
		if _, _, err := ApplyFixes(in, res); err != nil && !strings.Contains(err.Error(), "same text") {
			t.Fatal(err)
		}
	})
}

// TestInterfaceInMessage holds that a remembered verdict on one interface does
// not name it for another one.
func TestInterfaceInMessage(t *testing.T) {
	res := Run(small(t), files("/etc/rc.conf", "ifconfig_igb0=\"lro\"\nifconfig_igb1=\"lro\"\n"),
		Options{System: catalog.FreeBSD, Version: "14.0", Role: "router"})
	for i, nic := range []string{"igb0", "igb1"} {
		if len(res.Problems) != 2 || !strings.Contains(res.Problems[i].Message, nic) {
			t.Fatalf("problem %d does not name %s: %+v", i, nic, res.Problems)
		}
	}
}

// TestCmdline checks sysctl.NAME=VALUE on the kernel's command line.
func TestCmdline(t *testing.T) {
	res := Run(small(t), files("/proc/cmdline", "quiet sysctl.net.core.plain=2000 sysctl.net/core/old=1 net.core.plain=2000\n"),
		Options{System: catalog.Linux, Version: "6.1"})
	want := "/proc/cmdline:1:29 out-of-range error\n/proc/cmdline:1:34 removed warning\n"
	if got := list(res); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, p := range res.Problems {
		if p.Fix != nil {
			t.Errorf("%s: a correction of a line that cannot be corrected: %+v", p.Message, p.Fix)
		}
	}
}
