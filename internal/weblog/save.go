package weblog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// A saved sketch (.wrl) is a line that names the format and its version, then
// JSON compressed with zstd. It holds counts only: of the log's text, path
// patterns, networks and at most three skipped lines.
const (
	savedMagic   = "wirerate weblog sketch "
	savedVersion = 3
	// savedOldest is the oldest version that Load reads. Version 2 has neither notes
	// and marks of inputs nor groups by upstream time.
	savedOldest = 2
)

const (
	// maxSaved bounds what a saved sketch may unpack to; a full one is below 40 MB.
	maxSaved = 128 << 20
	// maxItems bounds each of its lists.
	maxItems = 1 << 18
)

// items is a list of bounded length: of an empty object a few bytes of a file would
// make a hundred times as many of memory.
type items[T any] []T

func (l *items[T]) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if start, err := dec.Token(); err != nil || start != json.Delim('[') {
		return err // null is an empty list
	}
	for dec.More() {
		if len(*l) == maxItems {
			return fmt.Errorf("a list of more than %d", maxItems)
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

type savedSketch struct {
	Inputs   items[savedInput]         `json:"inputs"`
	Requests uint64                    `json:"requests"`
	Filtered uint64                    `json:"filtered"`
	Bytes    uint64                    `json:"bytes"`
	Status   map[int]uint64            `json:"status"`
	Step     uint64                    `json:"step_us"`
	Skipped  [logline.NumFaults]uint64 `json:"skipped"`
	Ends     map[string]uint64         `json:"ends,omitempty"`
	Examples items[Skip]               `json:"examples"`
	Clusters items[savedHist]          `json:"clusters"`
	Detail   *savedDetail              `json:"detail,omitempty"`
}

type savedInput struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Note   string `json:"note,omitempty"`
	Lines  uint64 `json:"lines"`
	Error  string `json:"error,omitempty"`
	Mark   string `json:"mark,omitempty"` // the same for the same counts of the same input
}

// savedHist holds pairs of a bin's distance from the bin before and its count.
type savedHist struct {
	Sum  uint64        `json:"sum"`
	Min  uint64        `json:"min"`
	Max  uint64        `json:"max"`
	Bins items[uint64] `json:"bins"`
}

type savedGroup struct {
	Key   items[int] `json:"cell,omitempty"` // status, method, protocol
	Name  string     `json:"name,omitempty"`
	Net   uint64     `json:"net,omitempty"` // a clientTable's key
	Size  int        `json:"size,omitempty"`
	Bytes uint64     `json:"bytes"`
	Hist  savedHist  `json:"hist"`
}

// savedSlim is of the timeline: key, n, bytes, sum, max, under.
type savedSlim [6]uint64

type savedDetail struct {
	Cells    items[savedGroup] `json:"cells"`
	Depth    int               `json:"path_depth"`
	Paths    items[savedGroup] `json:"paths"`
	Caches   items[savedGroup] `json:"caches"`
	Level    int               `json:"client_level"`
	Clients  items[savedGroup] `json:"clients"`
	Shift    uint              `json:"timeline_shift"`
	Times    items[savedSlim]  `json:"timeline"`
	Rates    savedHist         `json:"rates"`
	Upstream savedHist         `json:"upstream"`
	Outside  savedHist         `json:"outside"`
	Behind   items[savedGroup] `json:"upstream_shares,omitempty"` // Size is the class
	Counts   [5]uint64         `json:"counts"`                    // instant, stamped, unstamped, backward, local
	Offsets  map[int16]uint64  `json:"offsets"`
}

// Save writes the sketch; [Load] reads it back.
func (s *Sketch) Save(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s%d\n", savedMagic, savedVersion); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(s.saved()); err != nil {
		z.Close()
		return err
	}
	return z.Close()
}

func (s *Sketch) saved() savedSketch {
	out := savedSketch{Requests: s.Requests, Filtered: s.Filtered, Bytes: s.Bytes, Status: map[int]uint64{},
		Step: s.Step, Skipped: s.skipped, Ends: s.ends, Examples: s.examples}
	mark := s.mark()
	for i, in := range s.Inputs {
		si := savedInput{Name: in.Name, Format: in.Format, Note: in.Note, Lines: in.Lines, Mark: in.mark}
		if si.Mark == "" && in.Lines > 0 {
			si.Mark = fmt.Sprintf("%s-%d", mark, i)
		}
		if in.Err != nil {
			si.Error = in.Err.Error()
		}
		out.Inputs = append(out.Inputs, si)
	}
	for code, n := range s.Status {
		if n > 0 {
			out.Status[code] = n
		}
	}
	for _, h := range s.clusters {
		out.Clusters = append(out.Clusters, saveHist(h))
	}
	if s.detail != nil {
		out.Detail = s.detail.saved()
	}
	return out
}

// mark is a fingerprint of the counts and inputs: logs that are counted twice have the
// same.
func (s *Sketch) mark() string {
	h := sha256.New()
	for _, in := range s.Inputs {
		fmt.Fprintf(h, "%q %d\n", in.Name, in.Lines)
	}
	for _, c := range s.clusters {
		fmt.Fprintln(h, c.Totals)
		c.Each(func(bin int, count uint64) bool {
			fmt.Fprintln(h, bin, count)
			return true
		})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func saveHist(h *latency.Hist) savedHist {
	return savedHist{Sum: h.Sum, Min: h.Min, Max: h.Max, Bins: savedBins(h.Each)}
}

func saveGroup(g *latency.Group) savedHist {
	return savedHist{Sum: g.Sum, Min: g.Min, Max: g.Max, Bins: savedBins(g.Each)}
}

func savedBins(each func(func(bin int, count uint64) bool)) (pairs []uint64) {
	last := 0
	each(func(bin int, count uint64) bool {
		pairs = append(pairs, uint64(bin-last), count)
		last = bin
		return true
	})
	return pairs
}

func (d *detail) saved() *savedDetail {
	out := &savedDetail{Depth: d.paths.depth(), Level: d.clients.level, Shift: uint(d.timeline.level),
		Rates:    saveHist(&d.rates),
		Upstream: saveHist(&d.upstream), Outside: saveHist(&d.outside),
		Counts: [5]uint64{d.instant, d.times, d.noStamp, d.backward, d.local}, Offsets: map[int16]uint64{}}
	for _, z := range d.zones {
		out.Offsets[z.offset] = z.n
	}
	for k, g := range d.cells.groups {
		c := cellOf(k)
		out.Cells = append(out.Cells, savedGroup{Key: []int{int(c.status), int(c.method), int(c.proto)},
			Bytes: g.Bytes, Hist: saveGroup(g)})
	}
	for k, g := range d.paths.groups {
		out.Paths = append(out.Paths, savedGroup{Name: k[1:], Size: int(k[0]), Bytes: g.Bytes, Hist: saveGroup(g)})
	}
	for k, g := range d.caches.groups {
		out.Caches = append(out.Caches, savedGroup{Name: k, Bytes: g.Bytes, Hist: saveGroup(g)})
	}
	for i := range d.behind {
		if g := &d.behind[i]; g.N > 0 {
			out.Behind = append(out.Behind, savedGroup{Size: i, Bytes: g.Bytes, Hist: saveGroup(g)})
		}
	}
	for k, b := range d.clients.groups {
		out.Clients = append(out.Clients, savedGroup{Net: k, Bytes: b.Bytes, Hist: saveGroup(b)})
	}
	for k, b := range d.timeline.groups {
		out.Times = append(out.Times, savedSlim{uint64(k >> d.timeline.level), b.n, b.bytes, b.sum, b.max, b.under})
	}
	return out
}

// isSaved reports whether a file that begins with head is a saved sketch.
func isSaved(head []byte) bool { return bytes.HasPrefix(head, []byte(savedMagic)) }

var (
	errSaved   = errors.New("was not written by weblog --save")
	errDamaged = errors.New("saved counts, but damaged or cut short; copy or save them again")
)

// checkVersion reads the first line.
func checkVersion(b *bufio.Reader) error {
	magic := make([]byte, len(savedMagic))
	if _, err := io.ReadFull(b, magic); err != nil || string(magic) != savedMagic {
		return errSaved
	}
	line, err := b.ReadSlice('\n') // of b's size at most
	if err != nil || len(line) > 9 {
		return errDamaged
	}
	n, err := strconv.Atoi(string(line[:len(line)-1]))
	switch {
	case err != nil || n < 1:
		return errDamaged
	case n < savedOldest || n > savedVersion:
		return fmt.Errorf("saved counts of version %d, and this wirerate reads %d to %d; use the same wirerate on "+
			"all servers, or count the logs again", n, savedOldest, savedVersion)
	}
	return nil
}

// Load reads what [Sketch.Save] wrote, of a file of the given name, which becomes part of
// those of its inputs: on all servers logs are called the same. Anything else is an error.
func Load(name string, r io.Reader) (*Sketch, error) {
	b := bufio.NewReader(r)
	if err := checkVersion(b); err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSaved),
		zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	defer z.Close()
	dec := json.NewDecoder(io.LimitReader(z, maxSaved))
	dec.DisallowUnknownFields()
	var in savedSketch
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: more behind their end (files are merged with weblog merge)", errDamaged)
	}
	s, err := in.sketch()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	for i := range s.Inputs {
		if in := &s.Inputs[i]; name != "-" && !strings.HasPrefix(name, "/dev/fd/") &&
			!strings.Contains(in.Name, ".wrl: ") {
			in.Name = filepath.Base(name) + ": " + in.Name
		}
	}
	return s, nil
}

func (in *savedSketch) sketch() (*Sketch, error) {
	s := &Sketch{Requests: in.Requests, Filtered: in.Filtered, Bytes: in.Bytes, Step: in.Step, skipped: in.Skipped}
	for _, e := range in.Examples {
		s.examples = append(s.examples, Skip{logline.Escape(e.Input, 512), e.Line, logline.Escape(e.Reason, 80),
			safeAgain(e.Text)})
	}
	for _, i := range in.Inputs {
		input := Input{Name: i.Name, Format: logline.Escape(i.Format, 80), Note: safeAgain(i.Note), Lines: i.Lines,
			mark: i.Mark}
		if i.Error != "" {
			input.Err = errors.New(i.Error)
		}
		s.Inputs = append(s.Inputs, input)
	}
	for name, n := range in.Ends {
		s.addEnd(logline.Escape(name, 64), n)
	}
	var statuses, times uint64
	for code, n := range in.Status {
		if code < 0 || code >= len(s.Status) {
			return nil, fmt.Errorf("status %d", code)
		}
		s.Status[code] = n
		statuses += n
	}
	if len(in.Clusters) > latency.MaxClusters {
		return nil, fmt.Errorf("%d parts", len(in.Clusters))
	}
	for i := range in.Clusters {
		h := new(latency.Hist)
		if err := in.Clusters[i].load(h); err != nil {
			return nil, err
		}
		times += h.N
		s.clusters = append(s.clusters, h)
	}
	if times != s.Requests || statuses != s.Requests {
		return nil, fmt.Errorf("%d times and %d statuses of %d requests", times, statuses, s.Requests)
	}
	if in.Detail != nil {
		d, err := in.Detail.detail()
		if err != nil {
			return nil, err
		}
		var grouped uint64
		for _, g := range d.cells.groups {
			grouped += g.N
		}
		if grouped > s.Requests {
			return nil, fmt.Errorf("%d requests in groups, of %d", grouped, s.Requests)
		}
		s.detail = d
	}
	return s, nil
}

// safeAgain lets text that is escaped already pass, and escapes what is not.
func safeAgain(text string) string {
	for _, c := range text {
		if c < 0x20 || c == 0x7f {
			return logline.Escape(text, 2*logline.MaxShown)
		}
	}
	if len(text) > 8*logline.MaxShown {
		return logline.Escape(text, 2*logline.MaxShown)
	}
	return text
}

// bins hands out the counts of bins below limit, and returns their sum.
func (in *savedHist) bins(limit int, put func(bin uint, n uint64)) (sum uint64, err error) {
	if len(in.Bins)%2 != 0 {
		return 0, errors.New("odd number of bins")
	}
	bin := uint64(0)
	for i := 0; i < len(in.Bins); i += 2 {
		distance, n := in.Bins[i], in.Bins[i+1]
		bin += distance
		if distance >= uint64(limit) || bin >= uint64(limit) || i > 0 && distance == 0 || n == 0 || sum+n < n {
			return 0, errors.New("bins out of order")
		}
		put(uint(bin), n)
		sum += n
	}
	return sum, nil
}

func (in *savedHist) load(h *latency.Hist) error {
	n, err := in.bins(latency.NumBins, func(bin uint, n uint64) { *h.At(bin) = n })
	if err != nil || n == 0 {
		return err
	}
	h.N = n
	first, _ := h.Rank(1)
	last, _ := h.Rank(h.N)
	if latency.BinOf(in.Min) != first || latency.BinOf(in.Max) != last {
		return errRange
	}
	h.Min, h.Max, h.Sum = in.Min, in.Max, in.Sum
	return nil
}

var errRange = errors.New("range does not fit the bins")

func (in *savedDetail) detail() (*detail, error) {
	if in.Depth < 0 || in.Depth > maxDepth || in.Level < 0 || in.Level >= len(clientBits) || in.Shift > 40 {
		return nil, errors.New("table out of range")
	}
	d := newDetail()
	d.paths.level, d.clients.level, d.timeline.level = maxDepth-in.Depth, in.Level, int(in.Shift)
	d.instant, d.times, d.noStamp, d.backward, d.local = in.Counts[0], in.Counts[1], in.Counts[2], in.Counts[3],
		in.Counts[4]
	for k, n := range in.Offsets {
		if k < -24*60 || k > 24*60 {
			return nil, errors.New("zone out of range")
		}
		d.zones.add(k, n)
	}
	err := errors.Join(
		load(in.Cells, func(g *savedGroup) *latency.Group {
			k := g.Key
			if len(k) != 3 || min(k[0], k[1], k[2]) < 0 || k[0] >= statusClass+10 || k[1] >= len(methods) ||
				k[2] >= len(protos) {
				return nil
			}
			c := cell{uint16(k[0]), uint8(k[1]), uint8(k[2])}
			if c.status >= statusClass && d.cells.level == 0 {
				d.cells.coarsen(1)
			}
			return d.cells.at(c.key())
		}),
		load(in.Paths, func(g *savedGroup) *latency.Group {
			if g.Size < 0 || g.Size >= len(sizeNames) {
				return nil
			}
			return d.paths.at(string([]byte{byte(g.Size)}) + g.Name)
		}),
		load(in.Caches, func(g *savedGroup) *latency.Group { return d.caches.at(g.Name) }),
		load(in.Behind, func(g *savedGroup) *latency.Group {
			if g.Size < 0 || g.Size >= len(behindNames) {
				return nil
			}
			return &d.behind[g.Size]
		}), load(in.Clients, func(g *savedGroup) *latency.Group { return d.clients.at(g.Net) }))
	if err != nil {
		return nil, err
	}
	for _, b := range in.Times {
		// Stamps are of years of four digits.
		if k := int64(b[0]); k > maxUnix>>in.Shift || k < -(maxUnix>>in.Shift) || b[1] == 0 || b[5] > b[1] {
			return nil, errors.New("time out of range")
		}
		d.timeline.at(int64(b[0]) << in.Shift).Merge(&slim{n: b[1], bytes: b[2], sum: b[3], max: b[4], under: b[5]})
	}
	return d, errors.Join(in.Rates.load(&d.rates), in.Upstream.load(&d.upstream), in.Outside.load(&d.outside))
}

// maxUnix is beyond the last second of the year 9999.
const maxUnix = 1 << 38

// load adds the groups of a list to those that at finds for them, nil where there can be
// none.
func load(list items[savedGroup], at func(g *savedGroup) *latency.Group) error {
	for i := range list {
		to := at(&list[i])
		if to == nil {
			return errors.New("group out of range")
		}
		if err := list[i].load(to); err != nil {
			return err
		}
	}
	return nil
}

func (in *savedGroup) load(to *latency.Group) error {
	var g latency.Group
	n, err := in.Hist.bins(latency.CoarseBins, g.AddTo)
	if err != nil || n == 0 {
		return err
	}
	g.N = n
	first, _ := g.Rank(1)
	last, _ := g.Rank(n)
	if int(latency.CoarseOf[latency.BinOf(in.Hist.Min)]) != first ||
		int(latency.CoarseOf[latency.BinOf(in.Hist.Max)]) != last {
		return errRange
	}
	g.Min, g.Max, g.Sum, g.Bytes = in.Hist.Min, in.Hist.Max, in.Hist.Sum, in.Bytes
	to.Merge(&g)
	return nil
}
