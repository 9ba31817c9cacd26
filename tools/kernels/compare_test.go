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
