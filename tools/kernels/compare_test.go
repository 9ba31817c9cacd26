package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/tools/kernels/observed"
)

// A kernel that differs from the catalog in one thing after another.
func TestCompare(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"system":"linux","release":"6.12.1-test","memory":8589934592,"cores":2}` + "\n"
	const end = `{"end":true}` + "\n"
	for _, test := range []struct{ name, line, setting, problem string }{
		{"true", `{"name":"net.core.somaxconn","value":"4096","read":true,"writable":true,"new":true}`, "net.core.somaxconn", ""},
		{"default", `{"name":"net.core.somaxconn","value":"128","read":true,"writable":true,"new":true}`, "net.core.somaxconn",
			`default "128", the record says "4096"`},
		{"unknown", `{"name":"net.core.nosuch","value":"1","read":true,"writable":true}`, "net.core.nosuch", noRecord},
		{"removed", `{"name":"net.ipv4.tcp_tw_recycle","value":"0","read":true,"writable":true}`, "net.ipv4.tcp_tw_recycle",
			"exists, the record says removed"},
		{"mode", `{"name":"net.core.somaxconn","value":"4096","read":true,"writable":false}`, "net.core.somaxconn",
			"is not writable, the record says runtime"},
		{"an interface's", `{"name":"net.ipv4.conf.eth0.rp_filter","value":"2","read":true,"writable":true}`, "net.ipv4.conf.*.rp_filter", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := observed.Read(strings.NewReader(head + test.line + "\n" + end))
			if err != nil {
				t.Fatal(err)
			}
			r, err := compare(c, d)
			if err != nil {
				t.Fatal(err)
			}
			got := r.problems[test.setting]
			if test.problem == "" && len(got) > 0 || test.problem != "" && !slices.Equal(got, []string{test.problem}) {
				t.Errorf("%s: %q, want %q", test.setting, got, test.problem)
			}
			if agrees := r.agree[test.setting]; agrees != (test.problem == "") {
				t.Errorf("%s agrees: %t", test.setting, agrees)
			}
		})
	}
}

func TestCutDumps(t *testing.T) {
	for _, text := range []string{
		"", "nothing\n", `{"system":"linux","release":"6.1.0"}` + "\n" + `{"name":"net.core.somaxconn"}` + "\n", "{broken\n",
	} {
		if _, err := observed.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken for a dump", text)
		}
	}
}

func TestDumpOfABSD(t *testing.T) {
	d, err := observed.Read(strings.NewReader("FreeBSD 14.3-RELEASE\nkern.ipc.maxsockbuf: 2097152\nnet.inet.tcp.sack.enable: 1\n more\n"))
	if err != nil || d.System != "freebsd" || d.Release != "14.3-RELEASE" || len(d.Settings) != 2 || d.Settings[0].Value != "2097152" {
		t.Fatalf("%+v, %v", d, err)
	}
}

// What FreeBSD calls writable is held against the kinds of that release.
func TestWritableOfABSD(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := observed.Read(strings.NewReader("FreeBSD 14.3-RELEASE\nkern.maxdsiz: 34359738368\nkern.hz: 1000\nkern.coredump: 1\nkern.ostype: FreeBSD\n" +
		"# writable\nkern.maxdsiz\nkern.hz\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare(c, d)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"kern.maxdsiz":  nil,
		"kern.hz":       {"is writable, the record says boot"},
		"kern.coredump": {"is not writable, the record says runtime"},
		"kern.ostype":   nil,
	} {
		if got := r.problems[name]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if complete := r.complete(); len(complete) > 0 {
		t.Errorf("a kernel that lacks most of it bears out that %q is complete", complete)
	}
}

// A release that is asked keeps the rows of the others.
func TestPageKeepsRows(t *testing.T) {
	one := &result{system: catalog.Linux, release: "6.1.0-50-amd64", seen: map[string]bool{"a": true}}
	two := &result{system: catalog.FreeBSD, release: "13.0-STABLE"}
	both := string(page(string(page("", []*result{one})), []*result{two}))
	if !strings.Contains(both, "| Linux | 6.1.0-50-amd64 | 1 | 0 | 0 |") || !strings.Contains(both, "| FreeBSD | 13.0-STABLE | 0 | 0 | 0 |") {
		t.Error(both)
	}
	one.release = "6.1.0-51-amd64"
	if newer := string(page(both, []*result{one})); strings.Contains(newer, "6.1.0-50") || !strings.Contains(newer, "6.1.0-51") {
		t.Error(newer)
	}
	one.release = "6.1.0-50-amd64"
	if again := string(page(both, []*result{one, two})); again != both {
		t.Error(again)
	}
}
