package conffile

import (
	"errors"
	"strings"
	"testing"
)

// parsed returns a file and the index of the entry with the given name.
func parsed(t *testing.T, kind Kind, system System, text, name string) (*File, int) {
	t.Helper()
	f, err := Parse(kind, system, "f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range f.Entries {
		if e.Name == name {
			return f, i
		}
	}
	t.Fatalf("no entry %s in %q", name, text)
	return nil, 0
}

func TestEdit(t *testing.T) {
	set := func(v string) func(*File, int) error { return func(f *File, i int) error { return f.Set(i, v) } }
	comment := func(f *File, i int) error { return f.Comment(i, "gone since 4.12") }
	tests := []struct {
		name   string
		kind   Kind
		system System
		in     string
		entry  string
		edit   func(*File, int) error
		want   string
	}{
		{"set keeps blanks and comment", Sysctl, FreeBSD, "a\n x.y =  1 # c\r\nb", "x.y", set("22"),
			"a\n x.y =  22 # c\r\nb"},
		{"set inside quotes", Loader, FreeBSD, `x="1" # c`, "x", set(`a"b`), `x="a\"b" # c`},
		{"set adds quotes where the loader needs them", Loader, FreeBSD, "x=1", "x", set("/boot/a b"), `x="/boot/a b"`},
		{"set a shell value", RC, FreeBSD, "x=1", "x", set("a b"), `x="a b"`},
		{"set a feature", RC, FreeBSD, `ifconfig_em0="up -tso mtu 9000"`, "ifconfig:tso", set("on"),
			`ifconfig_em0="up tso mtu 9000"`},
		{"set an option", RC, FreeBSD, `ifconfig_em0="up -tso mtu 9000"`, "ifconfig:mtu", set("1500"),
			`ifconfig_em0="up -tso mtu 1500"`},
		{"set an argument", Script, Linux, "ethtool -K eth0 gro off lro on", "ethtool:features/lro", set("off"),
			"ethtool -K eth0 gro off lro off"},
		{"comment", Sysctl, Linux, "a.b=1\r\n x.y=1\r\n", "x.y", comment, "a.b=1\r\n# gone since 4.12\r\n# x.y=1\r\n"},
		{"comment a continued statement", PF, OpenBSD, "set timeout { frag 1,\n interval 2 }\nset limit states 5",
			"pf:set/limit/states", comment,
			"set timeout { frag 1,\n interval 2 }\n# gone since 4.12\n#set limit states 5"},
		{"comment all lines of a value", RC, FreeBSD, "a=1\nx=\"b \\\n c\"\nd=2\n", "x", comment,
			"a=1\n# gone since 4.12\n#x=\"b \\\n# c\"\nd=2\n"},
		{"append", Sysctl, Linux, "x.y=1", "x.y", func(f *File, i int) error { return f.Append("n.m=3") }, "x.y=1\nn.m=3\n"},
		{"rename", Sysctl, Linux, "-x.y=1", "x.y", func(f *File, i int) error { return f.Rename(i, "z") }, "-z=1"},
		{"two edits", Sysctl, Linux, "x.y=1\n", "x.y", func(f *File, i int) error {
			return errors.Join(f.Rename(i, "z"), f.Set(i, "2"), f.Set(i, "3"), f.Append("b=1"))
		}, "z=3\nb=1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, i := parsed(t, tt.kind, tt.system, tt.in, tt.entry)
			if err := tt.edit(f, i); err != nil {
				t.Fatal(err)
			}
			if got := string(f.Bytes()); got != tt.want {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestEditRefused(t *testing.T) {
	f, i := parsed(t, Script, Linux, "ethtool -K eth0 gro off lro on", "ethtool:features/lro")
	if err := f.Comment(i, ""); !errors.Is(err, ErrShared) {
		t.Errorf("commenting a line with two settings: %v, want ErrShared", err)
	}
	if err := f.Set(i, "a\nb"); err == nil {
		t.Error("a line break in a value is accepted")
	}
	f, i = parsed(t, Modprobe, Linux, "blacklist a", "module:a")
	if err := f.Set(i, "x"); err == nil {
		t.Error("setting a value that is not written is accepted")
	}
	f, i = parsed(t, Sysctl, Linux, "x.y=1\n", "x.y")
	if err := errors.Join(f.Set(i, "2"), f.Comment(i, "")); err == nil || !strings.Contains(err.Error(), "same text") {
		t.Errorf("overlapping edits: %v", err)
	}
	if f, _ = parsed(t, Sysctl, Linux, "x.y=1\n", "x.y"); f.Edited() {
		t.Error("an untouched file is edited")
	}
}
