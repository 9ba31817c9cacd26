// Package fleet merges inspections of many hosts: which findings are on which
// hosts, who deviates from its group, and what has changed since the last time.
package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/system"
)

const (
	fileLimit = 64 * input.MiB
	mostFiles = 200_000
)

// Item is one thing that hosts of a group are expected to have in common.
type Item struct {
	Kind string `json:"kind"` // release, machine, processor, setting, driver, firmware
	Name string `json:"name"` // of the setting or the interface; empty for the host's own
}

// Finding is a problem of a host.
type Finding struct {
	Problem  string
	Severity string
	Subject  string
}

// Host is what is compared of one inspection.
type Host struct {
	Name     string
	OS       string
	Group    string
	Items    map[Item]string
	Findings []Finding
}

// Fault is an input that gave no host.
type Fault struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// inspection is the part of what inspect --json prints that is compared.
type inspection struct {
	Schema int    `json:"schema"`
	Host   string `json:"host"`
	Facts  *struct {
		Node      string `json:"node"`
		OS        string `json:"os"`
		Release   string `json:"release"`
		Machine   string `json:"machine"`
		Processor string `json:"processor"`
		Settings  map[string]struct {
			Value string `json:"value"`
		} `json:"settings"`
		NICs []struct {
			Name     string `json:"name"`
			Driver   string `json:"driver"`
			Version  string `json:"driver_version"`
			Firmware string `json:"firmware"`
		} `json:"nics"`
	} `json:"facts"`
	Problems []struct {
		Problem  string `json:"problem"`
		Severity string `json:"severity"`
		Subject  string `json:"subject"`
	} `json:"problems"`
	Hosts []inspection `json:"hosts"` // of an inspection of several
}

// Files lists the inputs: files as they are, of folders the files *.json.
func Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		before := len(files)
		err = input.Walk(os.DirFS(name), mostFiles, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, ".json") {
				files = append(files, filepath.Join(name, path))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s has no file *.json; wirerate inspect HOST --json >FILE writes one", name)
		}
	}
	return files, nil
}

// Read reads the hosts of files, on all processors, ordered by name. group names
// the group of a host; it may be nil. What cannot be read, or is there twice, is a
// fault, and the rest is read all the same.
func Read(files []string, group func(host string) string) ([]Host, []Fault) {
	found, failed := make([][]Host, len(files)), make([]error, len(files))
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				found[i], failed[i] = readFile(files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wait.Wait()
	hosts, faults := []Host{}, []Fault{}
	first := map[string]string{}
	for i, file := range files {
		if failed[i] != nil {
			faults = append(faults, Fault{file, failed[i].Error()})
		}
		for _, h := range found[i] {
			if other, twice := first[h.Name]; twice {
				faults = append(faults, Fault{file, fmt.Sprintf("host %s is in %s too, which counts", h.Name, other)})
				continue
			}
			first[h.Name] = file
			if group != nil {
				h.Group = cmp.Or(group(h.Name), "no group")
			}
			hosts = append(hosts, h)
		}
	}
	slices.SortFunc(hosts, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	if known, err := catalog.Load(); err != nil {
		faults = append(faults, Fault{"the catalog", err.Error()})
	} else {
		dropCounts(hosts, known)
	}
	return hosts, faults
}

// lastPID can be written, and counts all the same.
const lastPID = "kernel.ns_last_pid"

// dropCounts takes out what kernels count and nobody sets: no two hosts have the
// same of it. Of what the catalog does not know on a BSD, nearly all is of that kind.
func dropCounts(hosts []Host, known *catalog.Catalog) {
	type setting struct{ os, name string }
	counts := map[setting]bool{}
	for _, h := range hosts {
		for item := range h.Items {
			if item.Kind != "setting" {
				continue
			}
			of := setting{h.OS, item.Name}
			is, seen := counts[of]
			if !seen {
				r, found := known.Lookup(catalog.System(h.OS), item.Name)
				is = found && r.Kind == catalog.ReadOnly || !found && h.OS != string(system.Linux) || item.Name == lastPID
				counts[of] = is
			}
			if is {
				delete(h.Items, item)
			}
		}
	}
}

func readFile(file string) ([]Host, error) {
	data, err := input.File(file, fileLimit)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse reads what inspect --json printed, of one host or several.
func Parse(data []byte) ([]Host, error) {
	var in inspection
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("it is not output of wirerate inspect --json: %w", err)
	}
	all := in.Hosts
	if in.Facts != nil {
		all = append(all, in)
	}
	if len(all) == 0 {
		return nil, errors.New("it is not output of wirerate inspect --json: it has no facts of a host")
	}
	var hosts []Host
	for _, one := range all {
		h, err := one.host()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// host takes the items of an inspection. What every host calls local has the name
// that it gives itself.
func (in inspection) host() (Host, error) {
	f := in.Facts
	if f == nil {
		return Host{}, fmt.Errorf("host %q has no facts", in.Host)
	}
	h := Host{Name: in.Host, OS: f.OS, Group: f.OS, Items: map[Item]string{}}
	if h.Name == "" || h.Name == "local" {
		h.Name = f.Node
	}
	if h.Name == "" {
		return h, errors.New("it does not tell the name of its host; inspect it by ssh://NAME")
	}
	put := func(kind, name, value string) {
		if value != "" {
			h.Items[Item{kind, name}] = value
		}
	}
	put("release", "", strings.TrimSpace(f.OS+" "+f.Release))
	put("machine", "", f.Machine)
	put("processor", "", f.Processor)
	for name, s := range f.Settings {
		put("setting", name, s.Value)
	}
	for _, n := range f.NICs {
		put("driver", n.Name, strings.TrimSpace(n.Driver+" "+n.Version))
		put("firmware", n.Name, n.Firmware)
	}
	for _, p := range in.Problems {
		h.Findings = append(h.Findings, Finding{p.Problem, p.Severity, p.Subject})
	}
	return h, nil
}
