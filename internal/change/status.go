package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

// Drift is a setting or file that is not as a change left it.
type Drift struct {
	ID      string `json:"id"` // of the change
	Setting string `json:"setting,omitempty"`
	File    string `json:"file,omitempty"`
	Wanted  string `json:"value,omitempty"`
	Running string `json:"running,omitempty"`
	Because string `json:"because"`
}

// DriftOf compares a host with what its pending and confirmed changes left. Of
// several changes of one setting or file the last one counts. It sets Rebooted
// and Unfinished. Changes that cannot be compared are in the error, beside the
// drift of the others.
func DriftOf(ctx context.Context, conn host.Conn, entries []Entry) ([]Drift, error) {
	var ops []host.Op
	var asked []Entry
	var at []int
	for i, e := range entries {
		if e.Problem == "" && (e.State == Pending || e.State == Confirming || e.State == Confirmed) {
			asked, at = append(asked, e), append(at, i)
			ops = append(ops, host.Script(e.statusScript()).Within(limit(len(e.Journal.Items))))
		}
	}
	if len(ops) == 0 {
		return nil, nil
	}
	answers, err := conn.Do(ctx, ops...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	var drift []Drift
	var errs []error
	last := map[string]int{}
	for i, e := range asked {
		entry, out := &entries[at[i]], string(answers[i].Out)
		if err := answers[i].Err(); err != nil || !strings.HasSuffix(out, "end\n") {
			err = cmp.Or(err, errEndedEarly)
			errs = append(errs, fmt.Errorf("%s: change %s cannot be compared: %w", conn.Name(), e.ID, err))
			continue
		}
		said := sayings(out)
		entry.Rebooted = len(said["rebooted"]) > 0
		if e.State != Confirmed {
			entry.Unfinished = strings.Join(said["cut"], "")
		}
		if e.State == Pending && entry.Rebooted {
			answers[i].Out = nil
		}
		for _, name := range e.touched(string(answers[i].Out)) {
			last[name] = i
		}
	}
	for i, e := range asked {
		for _, d := range e.drift(string(answers[i].Out)) {
			if last[d.Setting+d.File] == i {
				drift = append(drift, d)
			}
		}
	}
	return drift, errors.Join(errs...)
}

// errEndedEarly is a script whose output has no end.
var errEndedEarly = errors.New("its script ended early")

// statusScript prints "item N WRITTEN" and "now N VALUE" (or "lost N WHY") for
// what was written, and "file N same|differs|missing"; "rebooted" and "cut WHY"
// before, and "end" behind them.
func (e Entry) statusScript() string {
	var b strings.Builder
	c := Change{Journal: e.Journal}
	b.WriteString(scriptPrologue + fileFunctions + "dir=" + quote(e.Dir) + "\n" + "mark=" + quote(bootMark("", e.ID)) +
		"; items='" + c.numbers() + "'\n" +
		functions(e.Journal.System, e.Journal.Items) + readProgress + howFar)
	b.WriteString(`[ $rebooted = no ] || say rebooted
[ -z "$cut" ] || say "cut $cut"
item() { eval "p=\${p_$1-}; w=\${w_$1-}"; [ -n "$p" ] || return 0; say "item $1 $w"; if get_$1; then plain; say "now $1 $v"; else plain; say "lost $1 $v"; fi; }
file() { p=$(real "$2"); if [ ! -e "$p" ]; then say "file $1 missing"; elif same "$dir/files/$1.new" "$p" "$3"; then say "file $1 same"; else say "file $1 differs"; fi; }
`)
	b.WriteString("batch\n")
	for i := range e.Journal.Items {
		fmt.Fprintf(&b, "item %d\n", i)
	}
	for i, f := range e.Journal.Files {
		if !f.Now && e.State == Confirmed {
			fmt.Fprintf(&b, "file %d %s %s\n", i, quote(f.Path), f.compare())
		}
	}
	b.WriteString("say end\n")
	return b.String()
}

// answers calls each for every line of the status script's output.
func (e Entry) answers(out string, each func(word, name, rest string)) {
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		rest := strings.Join(fields[2:], "")
		switch {
		case err != nil:
		case fields[0] == "file" && n >= 0 && n < len(e.Journal.Files):
			each("file", e.Journal.Files[n].Path, rest)
		case fields[0] != "file" && n >= 0 && n < len(e.Journal.Items):
			each(fields[0], e.Journal.Items[n].Setting, rest)
		}
	}
}

func (e Entry) touched(out string) []string {
	var names []string
	e.answers(out, func(word, name, _ string) {
		if word == "item" || word == "file" {
			names = append(names, name)
		}
	})
	return names
}

func (e Entry) drift(out string) []Drift {
	var drift []Drift
	wanted := map[string]string{}
	e.answers(out, func(word, name, rest string) {
		switch {
		case word == "item":
			wanted[name] = rest
		case word == "lost":
			drift = append(drift, Drift{ID: e.ID, Setting: name, Wanted: wanted[name], Because: "it cannot be read: " +
				rest})
		case word == "now" && rest != wanted[name]:
			drift = append(drift, Drift{ID: e.ID, Setting: name, Wanted: wanted[name], Running: rest,
				Because: "changed since it was written"})
		case word == "file" && rest != "same":
			because := map[string]string{"missing": "the file is gone",
				"differs": "the file was changed since it was written"}[rest]
			drift = append(drift, Drift{ID: e.ID, File: name, Because: because})
		}
	})
	return drift
}

// Read returns the running values of settings, those of FreeBSD's loader tunables
// that no sysctl shows as the loader set them at boot, and why the others cannot be
// read, in one round trip.
func Read(ctx context.Context, conn host.Conn, system catalog.System, settings []string) (values,
	failed map[string]string, err error) {
	failed = map[string]string{}
	c := Change{Journal: Journal{System: system}, conn: conn, Absent: failed}
	for _, s := range settings {
		k, err := knobFor(c.System, s, "")
		if err != nil {
			failed[s] = err.Error()
			continue
		}
		c.Items = append(c.Items, Item{Setting: s, knob: k})
	}
	a, err := host.One(ctx, conn, host.Script(readScript(c.System, c.Items, true)).Within(limit(len(c.Items))))
	if err != nil {
		return nil, nil, err
	}
	if err := c.takeValues(string(a.Out), true, nil); err != nil {
		return nil, nil, err
	}
	return c.Old(), failed, nil
}
