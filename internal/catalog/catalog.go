package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	embedded "github.com/wirerate/wirerate/catalog"
	"github.com/wirerate/wirerate/internal/spelling"
)

// Catalog answers what is known about settings. Records are decoded when they
// are asked for. It is safe for concurrent use.
type Catalog struct {
	entries  []entry
	byName   map[System]map[string]int // by name and alias
	aliases  map[int][]string          // by entry
	patterns []int                     // entries with a * in a name
	mu       sync.Mutex
	decoded  map[int]*Record
	// expressions of all records: many records share theirs.
	expressions compiler

	checked map[string]string // releases by system and name

	seenText string // seen.txt, parsed when somebody asks
	seenOnce sync.Once
	seen     map[System][]string // names without a record
}

// entry is a record that is not decoded yet.
type entry struct {
	name    string
	from    *source
	at, end int32 // where its YAML is in the file
}

// source is a file, which is read again when one of its records is wanted.
type source struct {
	fsys   fs.FS
	name   string
	system System
	once   sync.Once
	text   string
	file   file // what its records have in common
	err    error
}

func (s *source) read() error {
	s.once.Do(func() {
		var text []byte
		if text, s.err = fs.ReadFile(s.fsys, s.name); s.err == nil {
			s.text = string(text)
			head, _, _ := strings.Cut(s.text, settingsStart)
			s.err = decode(head, &s.file)
		}
	})
	return s.err
}

// Load opens the catalog that is built into the program.
func Load() (*Catalog, error) { return Open(embedded.Files) }

// Open indexes the catalog files of a file system: SYSTEM/*.yaml, each with what
// its records share, the line "settings:", and records that begin with "  - name: ".
func Open(fsys fs.FS) (*Catalog, error) {
	names, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	c := &Catalog{entries: make([]entry, 0, 3000), byName: map[System]map[string]int{}, aliases: map[int][]string{},
		decoded: map[int]*Record{}}
	var buffer bytes.Buffer
	buffer.Grow(64 << 10)
	for _, name := range names {
		file, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		buffer.Reset()
		_, err = buffer.ReadFrom(file)
		if err = errors.Join(err, file.Close()); err == nil {
			err = c.index(&source{fsys: fsys, name: name, system: System(path.Dir(name))}, buffer.Bytes())
		}
		if err != nil {
			return nil, fmt.Errorf("catalog/%s: %w", name, err)
		}
	}
	if len(c.entries) == 0 {
		return nil, errors.New("catalog: no record found")
	}
	if c.checked, err = readChecked(fsys); err != nil {
		return nil, err
	}
	c.seenText, err = readSeen(fsys)
	return c, err
}

// The line before the records of a file, and the beginnings of a record and of
// the line with its other names.
const (
	settingsStart = "\nsettings:\n"
	recordStart   = "  - name: "
	aliasesStart  = "    aliases:"
)

// index adds the records of a file.
func (c *Catalog) index(from *source, text []byte) error {
	at := bytes.Index(text, []byte(settingsStart))
	if at < 0 {
		return errors.New(`no line "settings:"`)
	}
	first := len(c.entries)
	for at += len(settingsStart); at < len(text); {
		line := text[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		last := len(c.entries) - 1
		switch {
		case len(line) < 5 || line[4] == ' ' || line[2] == '#':
		case string(line[:4]) == recordStart[:4]:
			name, ok := strings.CutPrefix(string(line), recordStart)
			if !ok {
				return fmt.Errorf("%q: a record begins with its name", line)
			}
			if last >= first {
				c.entries[last].end = int32(at)
			}
			c.entries = append(c.entries, entry{strings.Trim(cutComment(name), "\"' \n"), from, int32(at), int32(len(text))})
			c.name(last+1, c.entries[last+1].name)
		case last >= first && bytes.HasPrefix(line, []byte(aliasesStart)):
			other, err := aliases(text[at:])
			if err != nil {
				return fmt.Errorf("%s: %w", c.entries[last].name, err)
			}
			c.aliases[last] = other
			for _, alias := range other {
				c.name(last, alias)
			}
		}
		at += len(line)
	}
	if len(c.entries) == first {
		return errors.New("no record")
	}
	return nil
}

// aliases reads the names after aliasesStart, on its line or one a line.
func aliases(text []byte) ([]string, error) {
	end := 0
	for line := range bytes.Lines(text) {
		item := bytes.TrimLeft(line, " ")
		if end > 0 && (len(line)-len(item) < 4 || !bytes.HasPrefix(item, []byte("- "))) {
			break
		}
		end += len(line)
	}
	var found struct{ Aliases []string }
	err := decode(string(text[:end]), &found)
	return found.Aliases, err
}

// decode reads YAML of the catalog's form.
func decode(text string, into any) error {
	data, err := quickJSON(text)
	if err != nil || len(data) == 0 {
		return err
	}
	return json.Unmarshal(data, into)
}

func (e entry) record() (*Record, error) {
	if err := e.from.read(); err != nil {
		return nil, err
	}
	var one []Record
	if err := decode(e.from.text[e.at:e.end], &one); err != nil {
		return nil, err
	}
	one[0].inherit(e.from.system, &e.from.file)
	return &one[0], nil
}

// name makes entry i found by a name.
func (c *Catalog) name(i int, name string) {
	system := c.entries[i].from.system
	if c.byName[system] == nil {
		c.byName[system] = make(map[string]int, 1500)
	}
	c.byName[system][name] = i
	if last := len(c.patterns) - 1; strings.IndexByte(name, '*') >= 0 && (last < 0 || c.patterns[last] != i) {
		c.patterns = append(c.patterns, i)
	}
}

// names are the name of entry i and its aliases.
func (c *Catalog) names(i int) []string { return append([]string{c.entries[i].name}, c.aliases[i]...) }

// Len returns the number of records.
func (c *Catalog) Len() int { return len(c.entries) }

// Lookup finds the record of a setting by name, alias or pattern; a concrete
// name such as net.ipv4.conf.eth0.rp_filter finds net.ipv4.conf.*.rp_filter, and
// of several patterns the longest.
func (c *Catalog) Lookup(system System, name string) (*Record, bool) {
	if i, ok := c.byName[system][name]; ok {
		return c.record(i), true
	}
	found, length := -1, 0
	for _, i := range c.patterns {
		if c.entries[i].from.system != system {
			continue
		}
		for _, pattern := range c.names(i) {
			if len(pattern) > length && matches(pattern, name) {
				found, length = i, len(pattern)
			}
		}
	}
	if found < 0 {
		return nil, false
	}
	return c.record(found), true
}

// matches reports whether name fits pattern, in which each * stands for one
// or more characters other than the separators that the pattern uses.
func matches(pattern, name string) bool {
	before, after, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == name
	}
	if !strings.HasPrefix(name, before) {
		return false
	}
	rest := name[len(before):]
	separators := "."
	if strings.Contains(pattern, "/") {
		separators = "/"
	}
	for n := 1; n <= len(rest); n++ {
		if strings.IndexByte(separators, rest[n-1]) >= 0 {
			return false
		}
		if matches(after, rest[n:]) {
			return true
		}
	}
	return false
}

// All returns every record of a system, sorted by name; of all systems when
// system is empty.
func (c *Catalog) All(system System) []*Record {
	return c.Filter(system, func(string) bool { return true })
}

// Filter returns the records of a system of which a name or alias is kept,
// sorted by name; of all systems when system is empty.
func (c *Catalog) Filter(system System, keep func(name string) bool) []*Record {
	var out []*Record
	for i, e := range c.entries {
		if system != "" && e.from.system != system {
			continue
		}
		if keep(e.name) || slices.ContainsFunc(c.aliases[i], keep) {
			out = append(out, c.record(i))
		}
	}
	slices.SortStableFunc(out, func(a, b *Record) int {
		return cmp.Or(strings.Compare(string(a.System), string(b.System)), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Names returns every name and alias of a system; of all systems when system
// is empty.
func (c *Catalog) Names(system System) []string {
	var out []string
	for i, e := range c.entries {
		if system == "" || e.from.system == system {
			out = append(append(out, e.name), c.aliases[i]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Catalog) record(i int) *Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.decoded[i]; r != nil {
		return r
	}
	e := c.entries[i]
	r, err := e.record()
	if err != nil {
		// The tests read every record, so that this is a damaged program, not a user's mistake.
		r = &Record{Name: e.name, System: e.from.system, Kind: Unknown, Does: "damaged record: " + err.Error()}
	}
	r.expressions = &c.expressions
	r.Checked = c.checkedIn(r.System, r.Name)
	c.decoded[i] = r
	return r
}

// Nearest returns up to n names of a system (of all systems when empty), or of
// the further ones given, that are spelt most like name, nearest first; none is
// further away than a third of its length. A star in a name stands for what name
// has in its place.
func (c *Catalog) Nearest(system System, name string, n int, further ...string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lower := strings.ToLower(name)
	parts := strings.Split(name, ".")
	for _, other := range append(c.Names(system), further...) {
		if strings.HasSuffix(other, ".*") {
			continue // anything fits
		}
		if strings.Contains(other, "*") {
			other = fill(other, parts)
		}
		limit := max(2, len(other)/3)
		if abs(len(other)-len(name)) > limit {
			continue
		}
		if d := spelling.Edits(lower, strings.ToLower(other)); d <= limit {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		// Of two that are as near the longer one: letters are left out more often than added.
		return cmp.Or(a.distance-b.distance, len(b.name)-len(a.name))
	})
	var out []string
	for _, f := range found[:min(n, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// Ending returns up to n names of a system (of all systems when empty) whose last part is word but for one slip: users
// name settings by it.
func (c *Catalog) Ending(system System, word string, n int) (found []string) {
	for _, name := range c.Names(system) {
		if last := name[strings.LastIndexByte(name, '.')+1:]; len(found) < n && spelling.Slip(strings.ToLower(word), last) {
			found = append(found, name)
		}
	}
	return found
}

// fill puts the parts of a name into the places of the stars of a pattern that has
// as many parts.
func fill(pattern string, parts []string) string {
	filled := strings.Split(pattern, ".")
	if len(filled) != len(parts) {
		return pattern
	}
	for i, part := range filled {
		if part == "*" {
			filled[i] = parts[i]
		}
	}
	return strings.Join(filled, ".")
}

func abs(n int) int { return max(n, -n) }

// Search returns the records whose name, description or sources contain every
// word, in any case.
func (c *Catalog) Search(system System, words ...string) []*Record {
	var out []*Record
	for _, r := range c.All(system) {
		text := strings.ToLower(r.Name + " " + strings.Join(r.Aliases, " ") + " " + r.Does + " " + r.Risk + " " + r.Became)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }) {
			out = append(out, r)
		}
	}
	return out
}

// Proposal is what the catalog proposes for a setting on a path.
type Proposal struct {
	Record  *Record
	Formula Formula
	Result  Result
}

// Propose returns what the first formula of the record that fits the inputs
// proposes, nil when none fires, and the inputs that were missing to decide.
func (r *Record) Propose(in Inputs) (*Proposal, []string, error) {
	role, _ := in["role"].(string)
	var missing []string
	for _, f := range r.Formulas {
		if len(f.Roles) > 0 && !slices.Contains(f.Roles, role) {
			continue
		}
		result, err := f.propose(r.compiler(), in)
		if u, ok := asUnknown(err); ok {
			missing = append(missing, u)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if result != nil {
			return &Proposal{r, f, *result}, nil, nil
		}
	}
	return nil, missing, nil
}

func asUnknown(err error) (string, bool) {
	u, ok := err.(*UnknownInput)
	if !ok {
		return "", false
	}
	return u.Name, true
}
