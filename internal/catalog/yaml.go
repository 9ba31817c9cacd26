package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Defaults are a setting's defaults, oldest version first. In YAML a plain
// scalar stands for one default of all versions.
type Defaults []Default

// UnmarshalJSON reads a scalar or a list.
func (d *Defaults) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*d = Defaults{{Value: one}}
		return nil
	}
	var list []Default
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("default: a value, or a list of {since, value, note}: %w", err)
	}
	*d = list
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

// inherit completes a record by what its file has for all.
func (r *Record) inherit(system System, f *file) {
	r.System = system
	if r.Belongs == nil {
		r.Belongs = f.Belongs
	}
	if r.Sources == nil {
		r.Sources = f.Sources
	}
	if r.Drivers == nil {
		r.Drivers = f.Drivers
	}
	r.Scope = cmp.Or(r.Scope, f.Scope)
	for _, text := range []*string{&r.Does, &r.Became, &r.Risk} {
		*text = strings.TrimSpace(*text)
	}
}
