package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// UnmarshalYAML reads a scalar or a list, for the library that the quick reader
// is compared with.
func (d *Defaults) UnmarshalYAML(unmarshal func(any) error) error {
	var list []Default
	if err := unmarshal(&list); err == nil {
		*d = list
		return nil
	}
	var one string
	if err := unmarshal(&one); err != nil {
		return fmt.Errorf("default: a value, or a list of {since, value, note}: %w", err)
	}
	*d = Defaults{{Value: one}}
	return nil
}

// readYAML reads every catalog file under fsys with a library and strictly: an
// unknown key is an error. Records come sorted by system and name.
func readYAML(fsys fs.FS) ([]Record, error) {
	names, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("catalog: no YAML files found")
	}
	var all []Record
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		var f file
		if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("catalog/%s: %w", name, err)
		}
		if string(f.System) != path.Dir(name) {
			return nil, fmt.Errorf("catalog/%s: system %q does not match the folder", name, f.System)
		}
		for i := range f.Settings {
			f.Settings[i].inherit(f.System, &f)
		}
		all = append(all, f.Settings...)
	}
	slices.SortStableFunc(all, func(a, b Record) int {
		if c := strings.Compare(string(a.System), string(b.System)); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, nil
}
