package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	packed "github.com/wirerate/wirerate/catalog"
)

// Catalog answers what is known about settings. Records are decoded when they
// are asked for. It is safe for concurrent use.
type Catalog struct {
	entries  []entry
	byName   map[string]int // system + " " + name or alias
	patterns []int          // entries with a * in a name
	blocks   []block
	mu       sync.Mutex
	decoded  map[int]*Record
	// expressions of all records: many records share theirs.
	expressions compiler
}

type entry struct {
	system  System
	name    string
	aliases []string
	// Where its JSON lies.
	block, at, end int
}

// block is a run of records, unpacked when one of them is wanted.
type block struct {
	packed, data []byte
}

// Load opens the catalog that is built into the program.
func Load() (*Catalog, error) { return Open(packed.Pack) }

// blockSize is from how many bytes on a block of records is full: small enough
// to be unpacked for one of them, large enough to shrink to a sixth.
const blockSize = 64 << 10

// Pack writes records in the form that Open reads: a line with the packed length
// of the index, the index, and the records as JSON in blocks; index and blocks
// are Zstandard frames (RFC 8878). The index has a line with the packed length
// of each block, followed by a line for each record of it (system, name,
// aliases, length).
func Pack(records []Record) ([]byte, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer packer.Close()
	var index, lines, plain bytes.Buffer
	var body []byte
	for i, r := range records {
		data, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\t%d\n", r.System, r.Name, strings.Join(r.Aliases, " "), len(data))
		plain.Write(data)
		if plain.Len() >= blockSize || i == len(records)-1 {
			before := len(body)
			body = packer.EncodeAll(plain.Bytes(), body)
			fmt.Fprintf(&index, "%d\n%s", len(body)-before, lines.Bytes())
			lines.Reset()
			plain.Reset()
		}
	}
	head := packer.EncodeAll(index.Bytes(), nil)
	return slices.Concat(fmt.Appendln(nil, len(head)), head, body), nil
}

// Open reads a packed catalog. The data must not change afterwards.
func Open(pack []byte) (*Catalog, error) {
	first, rest, _ := bytes.Cut(pack, []byte("\n"))
	length, err := strconv.Atoi(string(first))
	if err != nil || length < 0 || length > len(rest) {
		return nil, errors.New("catalog: the packed catalog has no index; run go generate ./catalog")
	}
	index, err := unframe(rest[:length])
	if err != nil {
		return nil, fmt.Errorf("catalog: the index is damaged: %w", err)
	}
	return read(strings.TrimSuffix(string(index), "\n"), rest[length:])
}

// read makes a catalog of an index and its blocks.
func read(index string, body []byte) (*Catalog, error) {
	lines := strings.Count(index, "\n") + 1
	c := &Catalog{entries: make([]entry, 0, lines), byName: make(map[string]int, lines), decoded: map[int]*Record{}}
	at := 0
	for line := range strings.SplitSeq(index, "\n") {
		fields := strings.Split(line, "\t")
		size, err := strconv.Atoi(fields[len(fields)-1])
		switch {
		case err != nil || size < 0:
			return nil, fmt.Errorf("catalog: damaged index line %q", line)
		case len(fields) == 1 && size <= len(body):
			c.blocks, body, at = append(c.blocks, block{packed: body[:size]}), body[size:], 0
		case len(fields) == 4 && len(c.blocks) > 0 && size <= maxBlock:
			c.add(entry{System(fields[0]), fields[1], strings.Fields(fields[2]), len(c.blocks) - 1, at, at + size})
			at += size
		default:
			return nil, fmt.Errorf("catalog: damaged index line %q", line)
		}
	}
	return c, nil
}

// maxBlock bounds a block and the index, in bytes.
const maxBlock = 16 << 20

// unpack returns the JSON of an entry.
func (c *Catalog) unpack(e entry) ([]byte, error) {
	b := &c.blocks[e.block]
	if b.data == nil {
		var err error
		if b.data, err = unframe(b.packed); err != nil {
			return nil, err
		}
	}
	if e.end > len(b.data) {
		return nil, errors.New("its block ends early")
	}
	return b.data[e.at:e.end], nil
}

// unframe unpacks one Zstandard frame.
func unframe(packed []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}

func (c *Catalog) add(e entry) {
	i := len(c.entries)
	c.entries = append(c.entries, e)
	for _, name := range append([]string{e.name}, e.aliases...) {
		c.byName[string(e.system)+" "+name] = i
		if strings.Contains(name, "*") && !slices.Contains(c.patterns, i) {
			c.patterns = append(c.patterns, i)
		}
	}
}

// Len returns the number of records.
func (c *Catalog) Len() int { return len(c.entries) }

// Lookup finds the record of a setting by name, alias or pattern; a concrete
// name such as net.ipv4.conf.eth0.rp_filter finds net.ipv4.conf.*.rp_filter, and
// of several patterns the longest.
func (c *Catalog) Lookup(system System, name string) (*Record, bool) {
	if i, ok := c.byName[string(system)+" "+name]; ok {
		return c.record(i), true
	}
	found, length := -1, 0
	for _, i := range c.patterns {
		e := &c.entries[i]
		if e.system != system {
			continue
		}
		for _, pattern := range append([]string{e.name}, e.aliases...) {
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
	var out []*Record
	for i, e := range c.entries {
		if system == "" || e.system == system {
			out = append(out, c.record(i))
		}
	}
	return out
}

// Filter returns the records of a system of which a name or alias is kept,
// sorted by name; of all systems when system is empty.
func (c *Catalog) Filter(system System, keep func(name string) bool) []*Record {
	var out []*Record
	for i, e := range c.entries {
		if system != "" && e.system != system {
			continue
		}
		if keep(e.name) || slices.ContainsFunc(e.aliases, keep) {
			out = append(out, c.record(i))
		}
	}
	return out
}

// Names returns every name and alias of a system; of all systems when system
// is empty.
func (c *Catalog) Names(system System) []string {
	var out []string
	for _, e := range c.entries {
		if system == "" || e.system == system {
			out = append(append(out, e.name), e.aliases...)
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
	r, e := new(Record), c.entries[i]
	data, err := c.unpack(e)
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		// The pack is written by this package and compared with its source in
		// CI, so that this is a damaged program, not a user's mistake.
		r = &Record{Name: e.name, System: e.system, Kind: Unknown, Does: "damaged record: " + err.Error()}
	}
	r.expressions = &c.expressions
	c.decoded[i] = r
	return r
}

// Nearest returns up to n names of a system (of all systems when empty), or of
// the further ones given, that are spelt most like name, nearest first; none is
// further away than a third of its length.
func (c *Catalog) Nearest(system System, name string, n int, further ...string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lower := strings.ToLower(name)
	for _, other := range append(c.Names(system), further...) {
		limit := max(2, len(other)/3)
		if abs(len(other)-len(name)) > limit {
			continue
		}
		if d := editDistance(lower, strings.ToLower(other)); d <= limit {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var out []string
	for _, f := range found[:min(n, len(found))] {
		out = append(out, f.name)
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// editDistance is the number of insertions, deletions, substitutions and
// transpositions of neighbours that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+1)%3], rows[(i-1)%3], rows[i%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

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
