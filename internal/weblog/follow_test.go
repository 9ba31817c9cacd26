package weblog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// TestFollowThroughRotation appends, rotates and truncates while the log is
// followed; every line is counted once.
func TestFollowThroughRotation(t *testing.T) {
	const line = `192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.010` + "\n"
	name := t.TempDir() + "/access.log"
	write := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(line+line+line[:30], os.O_APPEND)
	steps := []struct {
		want uint64 // requests seen before the step
		do   func()
	}{
		{2, func() { write(line[30:], os.O_APPEND) }},
		{3, func() {
			if err := os.Rename(name, name+".1"); err != nil {
				t.Fatal(err)
			}
			write(line+"broken\n", os.O_APPEND)
		}},
		{4, func() { write(line, os.O_TRUNC) }},
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	var last *Sketch
	err := Follow(ctx, []string{name}, nil, Options{}, time.Millisecond, func(s *Sketch) {
		last = s
		switch {
		case len(steps) > 0 && s.Requests == steps[0].want:
			steps[0].do()
			steps = steps[1:]
		case len(steps) == 0 && s.Requests == 5:
			stop()
		}
	})
	if err != nil || last.Requests != 5 || last.Skipped() != 1 || last.Times().N != 5 {
		t.Fatalf("error %v, %d requests, %d skipped, %d steps left", err, last.Requests, last.Skipped(), len(steps))
	}
}

// TestFollowWaitsForFile: the log appears later, is renamed and written on, and the
// next one appears later, too.
func TestFollowWaitsForFile(t *testing.T) {
	const line = `192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.010` + "\n"
	name := t.TempDir() + "/access.log"
	write := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	steps := []func(){
		func() { write(name, line) },
		func() {
			if err := os.Rename(name, name+".1"); err != nil {
				t.Fatal(err)
			}
			write(name+".1", line)
		},
		func() { write(name, line) },
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	var last *Sketch
	err := Follow(ctx, []string{name}, nil, Options{}, time.Millisecond, func(s *Sketch) {
		last = s
		if int(s.Requests) == 3-len(steps) && len(steps) > 0 {
			steps[0]()
			steps = steps[1:]
		} else if s.Requests == 3 {
			stop()
		}
	})
	if err != nil || last.Requests != 3 || last.Skipped() != 0 {
		t.Fatalf("error %v, %d requests, %d steps left", err, last.Requests, len(steps))
	}
}

func TestFollowPipe(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		for range 3 {
			io.WriteString(w, "status:200\tmethod:GET\treqtime:0.25\n")
		}
		w.Close()
	}()
	var last *Sketch
	if err := Follow(context.Background(), []string{"-"}, r, Options{}, time.Hour, func(s *Sketch) { last = s }); err != nil {
		t.Fatal(err)
	}
	if last.Requests != 3 || last.Times().Under(250_000) != 0 {
		t.Fatalf("%d requests", last.Requests)
	}
}

// following is a log and the tail that follows it, without a clock: poll sees what
// was done since the last time.
type following struct {
	*testing.T
	name string
	tail *tail
}

func follow(t *testing.T) *following {
	name := t.TempDir() + "/access.log"
	return &following{T: t, name: name, tail: &tail{name: name, opt: &Options{}}}
}

// write appends to a file after cutting it to nothing if flags say so.
func (f *following) write(name, text string, flags int) {
	f.Helper()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flags, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		f.Fatal(err)
	}
}

// poll looks at the log, which has to give so many requests in all and to skip so
// many lines.
func (f *following) poll(requests, skipped uint64) {
	f.Helper()
	if err := f.tail.poll(context.Background()); err != nil {
		f.Fatal(err)
	}
	if err := f.tail.poll(context.Background()); err != nil { // what a rotation led to
		f.Fatal(err)
	}
	s := total([]*tail{f.tail})
	if s.Requests != requests || s.Skipped() != skipped {
		f.Fatalf("%d requests, %d skipped, want %d and %d; %v", s.Requests, s.Skipped(), requests, skipped, s.examples)
	}
}

// numbered returns lines that differ.
func numbered(from, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] \"GET /%d HTTP/1.1\" 200 5 \"-\" \"-\" 0.010\n", from+i)
	}
	return b.String()
}

func TestFollowCutAndRegrown(t *testing.T) {
	for _, c := range []struct {
		name   string
		grown  int // lines after the cut; 3 before
		passed uint64
	}{{"shorter", 2, 5}, {"as long", 3, 6}, {"longer", 7, 10}, {"much longer", 5000, 5003}} {
		t.Run(c.name, func(t *testing.T) {
			f := follow(t)
			f.write(f.name, numbered(100, 3), os.O_APPEND)
			f.poll(3, 0)
			f.write(f.name, numbered(200, c.grown), os.O_TRUNC)
			f.poll(c.passed, 0)
			f.write(f.name, numbered(300, 1), os.O_APPEND)
			f.poll(c.passed+1, 0)
		})
	}
}

// A writer that does not append leaves a hole where the log was cut.
func TestFollowHole(t *testing.T) {
	f := follow(t)
	f.write(f.name, numbered(100, 3), os.O_APPEND)
	f.poll(3, 0)
	at := f.tail.files[0].at
	if err := os.Truncate(f.name, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f.name, at); err != nil {
		t.Fatal(err)
	}
	f.poll(3, 0)
	f.write(f.name, numbered(200, 2), os.O_APPEND)
	f.poll(5, 0)
}

// A server writes to the renamed log until it is told to open it again; then the
// log is compressed and removed.
func TestFollowRenamedIsWrittenOn(t *testing.T) {
	f := follow(t)
	line := numbered(100, 1)
	f.write(f.name, line+line[:20], os.O_APPEND)
	f.poll(1, 0)
	if err := os.Rename(f.name, f.name+".1"); err != nil {
		t.Fatal(err)
	}
	f.write(f.name, "", os.O_APPEND)
	f.poll(1, 0)
	f.write(f.name, numbered(200, 1), os.O_APPEND)
	f.write(f.name+".1", line[20:]+numbered(300, 2), os.O_APPEND)
	f.poll(5, 0)
	if err := os.Remove(f.name + ".1"); err != nil {
		t.Fatal(err)
	}
	f.write(f.name, numbered(400, 1), os.O_APPEND)
	f.poll(6, 0)
	if err := os.Rename(f.name, f.name+".1"); err != nil { // the one before is forgotten
		t.Fatal(err)
	}
	f.write(f.name, numbered(500, 2), os.O_APPEND)
	f.poll(8, 0)
	f.tail.close()
}

// A compressed log is read to its end while the other one goes on.
func TestFollowCompressed(t *testing.T) {
	f := follow(t)
	f.write(f.name, numbered(100, 2), os.O_APPEND)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, numbered(200, 3)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.write(f.name+".1.gz", packed.String(), os.O_TRUNC)
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	var last *Sketch
	err := Follow(ctx, []string{f.name + ".1.gz", f.name}, nil, Options{}, time.Millisecond, func(s *Sketch) {
		if last = s; s.Requests == 5 {
			stop()
		}
	})
	if err != nil || last.Requests != 5 || last.Skipped() != 0 {
		t.Fatalf("error %v, %d requests", err, last.Requests)
	}
	err = Follow(ctx, []string{t.TempDir()}, nil, Options{}, time.Millisecond, func(*Sketch) {})
	if err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

// The first lines of a log may not tell its format yet.
func TestFollowWaitsForFormat(t *testing.T) {
	f := follow(t)
	f.write(f.name, "server started\n", os.O_APPEND)
	f.poll(0, 0)
	if s := total([]*tail{f.tail}); s.Inputs[0].Err == nil {
		t.Error("nothing says that the format is not known")
	}
	f.write(f.name, numbered(100, 3), os.O_APPEND)
	f.poll(3, 1)
	if s := total([]*tail{f.tail}); s.Inputs[0].Err != nil {
		t.Error(s.Inputs[0].Err)
	}
	f.write(f.name, strings.Repeat("server started\n", 5), os.O_TRUNC)
	f.poll(3, 6)

	g := follow(t)
	g.write(g.name, strings.Repeat(requestLine+"\n", enoughLines), os.O_APPEND)
	if err := g.tail.poll(context.Background()); err != nil {
		t.Fatal(err) // opens it
	}
	if err := g.tail.poll(context.Background()); !errors.Is(err, logdetect.ErrNoTime) || !strings.Contains(err.Error(), "it holds 20 requests (200: 20)") {
		t.Errorf("no time in %d lines: %v", enoughLines, err)
	}
	err := Follow(context.Background(), []string{"-"}, strings.NewReader("x\n"), Options{}, time.Hour, func(*Sketch) {})
	if err == nil || !strings.Contains(err.Error(), "no known format") {
		t.Error(err)
	}
}

// A line that is too long is one line, however it comes.
func TestFollowLongLine(t *testing.T) {
	f := follow(t)
	f.write(f.name, numbered(100, 2), os.O_APPEND)
	f.poll(2, 0)
	for range 3 {
		f.write(f.name, strings.Repeat("x", logline.MaxLine), os.O_APPEND)
		f.poll(2, 0)
	}
	f.write(f.name, "\n"+numbered(200, 2), os.O_APPEND)
	f.poll(4, 1)
	if n := len(f.tail.files[0].rest); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}
