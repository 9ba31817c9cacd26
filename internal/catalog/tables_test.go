package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	embedded "github.com/wirerate/wirerate/catalog"
)

// words makes every scalar a string and every hyphen of a key an underscore, as
// the quick reader does.
func words(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[strings.ReplaceAll(key, "-", "_")] = words(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = words(v[i])
		}
		return v
	}
	return fmt.Sprint(v)
}

// The quick reader and the library read every table alike, and no table has a
// key that its type lacks.
func TestTables(t *testing.T) {
	types := map[string]any{"hardening.yaml": new(struct {
		Set     []Hardening
		Refused []Refused
	}), "drivers.yaml": new(struct {
		Sources []string
		Drivers []Driver
	})}
	names, err := fs.Glob(embedded.Files, "*.yaml")
	if err != nil || len(names) != len(types) {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := embedded.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := quickJSON(string(text))
		if err != nil {
			t.Fatal(name, err)
		}
		var got, want any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(name, err)
		}
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(name, err)
		}
		if d := cmp.Diff(words(want), words(got)); d != "" {
			t.Errorf("%s: library (-), quick reader (+):\n%s", name, d)
		}
		strict := json.NewDecoder(bytes.NewReader(data))
		strict.DisallowUnknownFields()
		if err := strict.Decode(types[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDrivers(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Drivers() {
		key := string(d.System) + " " + d.Name
		if d.Name == "" || seen[key] {
			t.Errorf("driver %q twice or without a name", key)
		}
		seen[key] = true
		for _, card := range d.Cards {
			if _, ok := DriverOf(Linux, card); !ok {
				t.Errorf("%s: there is no Linux driver %s", key, card)
			}
		}
	}
	for _, c := range []struct {
		system     System
		name, want string
	}{
		{FreeBSD, "mlx5", "mce"}, {OpenBSD, "mlx5_core", "mcx"}, {Linux, "vtnet", "virtio_net"}, {OpenBSD, "igb", "em"},
		{FreeBSD, "e1000e", "em"}, {FreeBSD, "em", "em"}, {Linux, "nosuch", "nosuch"}, {OpenBSD, "mlxen", "mlxen"},
		{Linux, "em", "igb"},
	} {
		if got := OwnDriver(c.system, c.name); got != c.want {
			t.Errorf("%s on %s is %s, want %s", c.name, c.system, got, c.want)
		}
	}
	if d, ok := DriverOf(Linux, "igb"); !ok || d.Queues != 8 || d.RingMax != 4096 || d.Ring != 256 ||
		!d.HasSetting("ethtool:eee") {
		t.Errorf("%+v", d)
	}
}
