package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseArm(t *testing.T) {
	for text, want := range map[string]string{
		"default":                  "default::[]",
		"plan+cc:bbr":              "plan::[] set:bbr:[{net.ipv4.tcp_congestion_control bbr}]",
		"set:a.b=1,c.d=4 5 6":      "set:a.b=1,c.d=4 5 6:[{a.b 1} {c.d 4 5 6}]",
		"set:a.b=1,2,3,c.d=x,y":    "set:a.b=1,2,3,c.d=x,y:[{a.b 1,2,3} {c.d x,y}]",
		"set:a.b=1+2":              "set:a.b=1+2:[{a.b 1+2}]",
		"file:/a+b.conf+set:x.y=1": "file:/a+b.conf:[] set:x.y=1:[{x.y 1}]",
		"tuned:network-throughput": "tuned:network-throughput:[]",
	} {
		spec, err := parseArm(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var parts []string
		for _, p := range spec.parts {
			parts = append(parts, fmt.Sprintf("%s:%s:%v", p.kind, p.arg, p.values))
		}
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, bad := range []string{"", "plna", "set:", "set:a", "set:a=", "set:=1", "cc:", "file:", "default:x", "plan+", "+plan"} {
		if spec, err := parseArm(bad); err == nil {
			t.Errorf("%q: %+v", bad, spec)
		}
	}
}

func FuzzParseArm(f *testing.F) {
	f.Add("plan+cc:bbr")
	f.Add("set:a.b=1,2,c.d=4 5+file:x")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := parseArm(text)
		if err == nil && len(spec.parts) == 0 {
			t.Fatal("an arm of nothing")
		}
	})
}

const tunedSample = `# a profile
[main]
summary=something
include=throughput-performance, -other

[variables]
thunderx = >100
[sysctl]
; a comment
net.core.rmem_max = >16777216
net.ipv4.tcp_rmem="4096 131072 16777216"
kernel.x = ${unknown}
net.core.y = ${thunderx}

[bootloader]
cmdline=x
`

func TestParseTuned(t *testing.T) {
	p := parseTuned(tunedSample)
	want := "[{net.core.rmem_max 16777216} {net.ipv4.tcp_rmem 4096 131072 16777216} {net.core.y 100}]"
	if got := fmt.Sprint(p.settings); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if fmt.Sprint(p.include) != "[throughput-performance -other]" || fmt.Sprint(p.skipped) != "[bootloader]" {
		t.Errorf("%v %v", p.include, p.skipped)
	}
}

func FuzzParseTuned(f *testing.F) {
	f.Add(tunedSample)
	f.Fuzz(func(_ *testing.T, text string) { parseTuned(text) })
}
