package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

// captureSchema is the version of the capture format.
const captureSchema = 1

const manifestName = "manifest.json"

// Capture is the recorded answers of a host.
type Capture struct {
	Schema  int            `json:"schema"`
	Host    string         `json:"host"`
	Taken   time.Time      `json:"taken"`
	Entries []CaptureEntry `json:"entries"`
}

// CaptureEntry is one recorded answer. In a capture's folder its output is the
// file named Content.
type CaptureEntry struct {
	Action  Action   `json:"action"`
	Path    string   `json:"path,omitempty"`
	Args    []string `json:"args,omitempty"`
	Status  int      `json:"status,omitempty"`
	Failure Failure  `json:"failure,omitempty"`
	Stderr  string   `json:"stderr,omitempty"`
	Content string   `json:"content,omitempty"`
	Out     []byte   `json:"-"`
}

// Recorder passes operations on to a host and keeps what it answers.
type Recorder struct {
	Conn
	mu      sync.Mutex
	entries map[string]CaptureEntry
	order   []string
}

// Record returns a connection that records c.
func Record(c Conn) *Recorder { return &Recorder{Conn: c, entries: map[string]CaptureEntry{}} }

// Do performs the operations and records the answers of those that only read.
func (r *Recorder) Do(ctx context.Context, ops ...Op) ([]Answer, error) {
	answers, err := r.Conn.Do(ctx, ops...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range answers {
		if a.Failure == Skipped || !slices.Contains([]Action{ActRead, ActList, ActRun}, a.Op.Action) {
			continue
		}
		key := captureKey(a.Op)
		if _, seen := r.entries[key]; !seen {
			r.order = append(r.order, key)
		}
		r.entries[key] = CaptureEntry{Action: a.Op.Action, Path: a.Op.Path, Args: a.Op.Args,
			Status: a.Status, Failure: a.Failure, Stderr: a.Stderr, Out: a.Out}
	}
	return answers, err
}

// Capture returns what was recorded so far.
func (r *Recorder) Capture(now time.Time) *Capture {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Capture{Schema: captureSchema, Host: r.Name(), Taken: now.UTC()}
	for _, key := range r.order {
		c.Entries = append(c.Entries, r.entries[key])
	}
	return c
}

func captureKey(op Op) string {
	return string(op.Action) + "\x00" + op.Path + "\x00" + strings.Join(op.Args, "\x00")
}

// WriteTo writes the capture as a .tar.gz.
func (c *Capture) WriteTo(w io.Writer) (int64, error) {
	count := &countingWriter{w: w}
	zip := gzip.NewWriter(count)
	archive := tar.NewWriter(zip)
	err := c.each(func(name string, data []byte) error {
		head := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: c.Taken, Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		_, err := archive.Write(data)
		return err
	})
	return count.n, errors.Join(err, archive.Close(), zip.Close())
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// each calls f for every file of the capture, the manifest first.
func (c *Capture) each(f func(name string, data []byte) error) error {
	used := map[string]bool{}
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.Failure == None || len(e.Out) > 0 {
			e.Content = contentName(*e, used)
		}
	}
	manifest, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := f(manifestName, manifest); err != nil {
		return err
	}
	for _, e := range c.Entries {
		if e.Content == "" {
			continue
		}
		if err := f(e.Content, e.Out); err != nil {
			return err
		}
	}
	return nil
}

// contentName keeps a file's own path below files/ and names a command's
// output after the command.
func contentName(e CaptureEntry, used map[string]bool) string {
	base := "files" + path.Clean("/"+e.Path)
	if e.Action != ActRead {
		clean := func(r rune) rune {
			if r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' ||
				r >= 'a' && r <= 'z' {
				return r
			}
			return '_'
		}
		folder := map[Action]string{ActList: "lists/", ActRun: "commands/"}[e.Action]
		name := strings.Map(clean, strings.Join(append([]string{e.Path}, e.Args...), "_"))
		base = folder + strings.Trim(name[:min(len(name), 120)], "_")
	}
	name := base
	for n := 2; used[name]; n++ {
		name = fmt.Sprintf("%s.%d", base, n)
	}
	used[name] = true
	return name
}

// LoadCapture reads a capture: a .tar.gz, or a folder with a manifest.
func LoadCapture(name string) (*Capture, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	var files map[string][]byte
	if info.IsDir() {
		files, err = readFolder(name)
	} else {
		files, err = readArchive(name)
	}
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	c, err := parseCapture(files)
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	return c, nil
}

func parseCapture(files map[string][]byte) (*Capture, error) {
	manifest, ok := files[manifestName]
	if !ok {
		return nil, fmt.Errorf("no %s in it: unpack it and name the folder, or make a capture with "+
			"wirerate capture HOST -o FILE", manifestName)
	}
	var c Capture
	if err := input.JSON("its list", manifest, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if c.Schema != captureSchema {
		return nil, fmt.Errorf("%s: schema %d is not known, only %d", manifestName, c.Schema, captureSchema)
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.Content == "" {
			continue
		}
		data, ok := files[e.Content]
		if !ok && e.Failure == None {
			e.Failure, e.Stderr = Absent, e.Content+" is missing from the capture"
		}
		e.Out = data
	}
	return &c, nil
}

// What is read of a capture: bytes of all files when unpacked, bytes of the
// manifest, whose entries take many times their length in memory, and files.
const (
	captureLimit  = 256 << 20
	manifestLimit = 8 << 20
	captureFiles  = 100_000
)

// limitOf is how many bytes one file of a capture may have.
func limitOf(name string) int64 {
	if name == manifestName {
		return manifestLimit
	}
	return readLimit
}

func readArchive(name string) (map[string][]byte, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("not a .tar.gz: %w", err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(input.Limit(zip, "what is in it", captureLimit)); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("damaged archive: %w", err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		if len(files) == captureFiles {
			return nil, fmt.Errorf("more than %d files in it", captureFiles)
		}
		name := path.Clean(head.Name)
		data, err := input.Stream(archive, name, limitOf(name))
		if err != nil {
			return nil, fmt.Errorf("damaged archive: %w", err)
		}
		files[name] = data
	}
}

func readFolder(name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	root := os.DirFS(name)
	var total int
	err := input.Walk(root, captureFiles, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := input.File(filepath.Join(name, p), limitOf(p))
		if total += len(data); total > captureLimit {
			return &input.TooLarge{Name: "what is in it", Limit: captureLimit}
		}
		files[p] = data
		return err
	})
	return files, err
}

// Replay answers operations from a capture. What was not recorded is absent;
// writes are refused.
type Replay struct {
	capture *Capture
	entries map[string]CaptureEntry
}

// NewReplay returns the connection to a recorded host.
func NewReplay(c *Capture) *Replay {
	r := &Replay{c, map[string]CaptureEntry{}}
	for _, e := range c.Entries {
		r.entries[captureKey(Op{Action: e.Action, Path: e.Path, Args: e.Args})] = e
	}
	return r
}

// Name returns the recorded host's name.
func (r *Replay) Name() string { return r.capture.Host }

// Do answers from the capture.
func (r *Replay) Do(_ context.Context, ops ...Op) ([]Answer, error) {
	answers := make([]Answer, len(ops))
	for i, op := range ops {
		answers[i] = r.replay(op)
	}
	return answers, nil
}

func (r *Replay) replay(op Op) Answer {
	if e, ok := r.entries[captureKey(op)]; ok {
		return Answer{Op: op, Out: e.Out, Stderr: e.Stderr, Status: e.Status, Failure: e.Failure}
	}
	switch op.Action {
	case ActList:
		return r.list(op)
	case ActRead, ActRun, ActTable:
		return Answer{Op: op, Failure: Absent, Stderr: "not in the capture"}
	}
	return Answer{Op: op, Failure: ReadOnly, Stderr: "a capture cannot be changed"}
}

// list matches a pattern that was not recorded against the recorded files.
func (r *Replay) list(op Op) Answer {
	var out bytes.Buffer
	for _, e := range r.capture.Entries {
		if ok, _ := path.Match(op.Path, e.Path); ok && e.Action == ActRead && e.Failure == None {
			fmt.Fprintln(&out, e.Path)
		}
	}
	return Answer{Op: op, Out: out.Bytes()}
}

// Start is refused.
func (r *Replay) Start(context.Context, ...string) (Process, error) {
	return nil, fmt.Errorf("%s is a capture: nothing can be run on it", r.Name())
}

// Close does nothing.
func (r *Replay) Close() error { return nil }
