package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Defaults are a setting's defaults, oldest version first. In YAML a plain
// scalar stands for one default of all versions.
type Defaults []Default

// UnmarshalYAML reads a scalar or a list.
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

// file is one YAML file: the settings of one subtree, with what they share.
type file struct {
	System System `yaml:"system"`
	// Sources, Belongs, Scope and Drivers are inherited by records that name
	// none of their own.
	Sources  []string `yaml:"sources,omitempty"`
	Belongs  []string `yaml:"belongs,omitempty"`
	Scope    Scope    `yaml:"scope,omitempty"`
	Drivers  []string `yaml:"drivers,omitempty"`
	Settings []Record `yaml:"settings"`
}

// ReadYAML reads every catalog file under fsys, strictly: an unknown key is an
// error. Records come sorted by system and name.
func ReadYAML(fsys fs.FS) ([]Record, error) {
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
		records, err := readFile(name, data)
		if err != nil {
			return nil, fmt.Errorf("catalog/%s: %w", name, err)
		}
		all = append(all, records...)
	}
	slices.SortStableFunc(all, func(a, b Record) int {
		if c := strings.Compare(string(a.System), string(b.System)); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, nil
}

func readFile(name string, data []byte) ([]Record, error) {
	var f file
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, err
	}
	if string(f.System) != path.Dir(name) {
		return nil, fmt.Errorf("system %q does not match the folder", f.System)
	}
	for i := range f.Settings {
		inherit(&f.Settings[i], &f)
	}
	return f.Settings, nil
}

func inherit(r *Record, f *file) {
	r.System = f.System
	if r.Belongs == nil {
		r.Belongs = f.Belongs
	}
	if r.Sources == nil {
		r.Sources = f.Sources
	}
	if r.Scope == "" {
		r.Scope = f.Scope
	}
	if r.Drivers == nil {
		r.Drivers = f.Drivers
	}
	r.Does = strings.TrimSpace(r.Does)
	r.Became = strings.TrimSpace(r.Became)
	r.Risk = strings.TrimSpace(r.Risk)
}
