package weblog

import (
	"context"
	"io"
	"os"
	"testing"
	"time"
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
	if err != nil || last.Requests != 5 || last.Skipped() != 1 || last.Times().Count() != 5 {
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
	if last.Requests != 3 || last.Times().under(250_000) != 0 {
		t.Fatalf("%d requests", last.Requests)
	}
}
