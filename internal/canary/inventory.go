package canary

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/terminal"
)

const (
	maxHosts = 200_000
	maxName  = 255 // characters of a host's name
)

// Inventory reads hosts and their values of the keys that make blocks: what
// ansible-inventory --list prints, or lines of HOST KEY=VALUE. In an inventory of
// Ansible a key is a variable of the host or, as keyed_groups makes them, a group
// named KEY_VALUE. What a host has no value of is "".
func Inventory(data []byte, keys []string) ([]Host, error) {
	var hosts []Host
	var err error
	if !utf8.Valid(data) {
		return nil, errors.New("the inventory is not UTF-8")
	}
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		hosts, err = ansibleHosts(data, keys)
	} else {
		hosts, err = lineHosts(string(data), keys)
	}
	if err != nil {
		return nil, err
	}
	if len(hosts) < 4 || len(hosts) > maxHosts {
		return nil, fmt.Errorf("the inventory has %d hosts; 4 to %d are expected", len(hosts), maxHosts)
	}
	slices.SortFunc(hosts, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	for i, h := range hosts {
		if h.Name == "" || len(h.Name) > maxName || strings.ContainsFunc(h.Name, terminal.Hidden) {
			return nil, fmt.Errorf("the inventory has a host with the name %q", h.Name)
		}
		if strings.ContainsAny(h.Name, "*?,") || strings.ContainsAny(h.Name[:1], "!&~@") {
			return nil, fmt.Errorf("the inventory has a host with the name %q, which Ansible reads as a pattern of hosts",
				h.Name)
		}
		if i > 0 && hosts[i-1].Name == h.Name {
			return nil, fmt.Errorf("host %s stands twice in the inventory; a host is in one place only", h.Name)
		}
	}
	for i, key := range keys {
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Facts[i] != "" }) {
			return nil, fmt.Errorf("no host has a value of %q, which the blocks need: name a variable of the "+
				"hosts, or groups %s_VALUE", key, key)
		}
	}
	return hosts, nil
}

func lineHosts(text string, keys []string) ([]Host, error) {
	var hosts []Host
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		h := Host{Name: words[0], Facts: make([]string, len(keys))}
		for _, word := range words[1:] {
			key, value, found := strings.Cut(word, "=")
			if !found {
				return nil, fmt.Errorf("line %d of the inventory: %q: HOST KEY=VALUE... is expected", n, word)
			}
			if i := slices.Index(keys, key); i >= 0 {
				h.Facts[i] = value
			}
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func ansibleHosts(data []byte, keys []string) ([]Host, error) {
	var groups map[string]json.RawMessage
	if err := input.JSON("the inventory", data, &groups); err != nil {
		return nil, fmt.Errorf("the inventory: %w", err)
	}
	var meta struct {
		Vars map[string]map[string]any `json:"hostvars"`
	}
	if raw := groups["_meta"]; raw != nil {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, fmt.Errorf("hostvars of the inventory: %w", err)
		}
	}
	found := map[string]*Host{}
	host := func(name string) *Host {
		if found[name] == nil {
			found[name] = &Host{Name: name, Facts: make([]string, len(keys))}
		}
		return found[name]
	}
	tree := map[string]group{}
	for name, raw := range groups {
		if name == "_meta" {
			continue
		}
		var g group
		if err := json.Unmarshal(raw, &g); err != nil {
			return nil, fmt.Errorf("group %s of the inventory: %w", name, err)
		}
		tree[name] = g
	}
	for name := range tree {
		for member := range members(tree, name) {
			if err := groupFact(host(member), name, keys); err != nil {
				return nil, err
			}
		}
	}
	for name, vars := range meta.Vars {
		for i, key := range keys {
			if v, ok := vars[key]; ok {
				host(name).Facts[i] = fmt.Sprint(v)
			}
		}
	}
	var hosts []Host
	for name, h := range found {
		if _, both := tree[name]; both {
			return nil, fmt.Errorf("%s is a host and a group of the inventory: Ansible would change all hosts of the group "+
				"in its place; rename one", name)
		}
		hosts = append(hosts, *h)
	}
	return hosts, nil
}

// group is a group of an inventory of Ansible.
type group struct {
	Hosts    []string `json:"hosts"`
	Children []string `json:"children"`
}

// members are the hosts of a group and of the groups below it.
func members(tree map[string]group, name string) map[string]bool {
	hosts, seen := map[string]bool{}, map[string]bool{name: true}
	for todo := []string{name}; len(todo) > 0; {
		g := tree[todo[0]]
		todo = todo[1:]
		for _, h := range g.Hosts {
			hosts[h] = true
		}
		for _, child := range g.Children {
			if !seen[child] {
				seen[child] = true
				todo = append(todo, child)
			}
		}
	}
	return hosts
}

// groupFact gives a host the values that the name of its group has.
func groupFact(h *Host, group string, keys []string) error {
	for i, key := range keys {
		value, ok := strings.CutPrefix(group, key+"_")
		if !ok || value == "" {
			continue
		}
		if h.Facts[i] != "" && h.Facts[i] != value {
			pair := []string{h.Facts[i], value}
			slices.Sort(pair)
			return fmt.Errorf("host %s is in two groups, %s_%s and %s_%s; a block has each host once",
				h.Name, key, pair[0], key, pair[1])
		}
		h.Facts[i] = value
	}
	return nil
}

// Changed compares the hosts of a canary with an inventory of today: added are not
// part of it, gone were.
func (s *State) Changed(now []Host) (added, gone []string) {
	has := map[string]bool{}
	for _, h := range now {
		has[h.Name] = true
	}
	for _, h := range s.Hosts {
		if !has[h.Name] {
			gone = append(gone, h.Name)
		}
		delete(has, h.Name)
	}
	for name := range has {
		added = append(added, name)
	}
	slices.Sort(added)
	return added, gone
}
