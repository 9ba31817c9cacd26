// Package observed is what a running kernel showed of its settings, one JSON
// object a line: a Machine, then Settings, then a Machine with End.
package observed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
)

// Machine is the kernel that was asked.
type Machine struct {
	System  string `json:"system,omitempty"`
	Release string `json:"release,omitempty"`
	Memory  int64  `json:"memory,omitempty"` // bytes
	Cores   int    `json:"cores,omitempty"`
	End     bool   `json:"end,omitempty"` // the last line: nothing was cut off
}

// Setting is one name that the kernel has.
type Setting struct {
	Name     string `json:"name"`
	Path     string `json:"-"`
	Value    string `json:"value,omitempty"`
	Read     bool   `json:"read"` // Value was readable
	Writable bool   `json:"writable"`
	New      bool   `json:"new,omitempty"` // seen in a new network namespace
	Tried    []Try  `json:"tried,omitempty"`
}

// Try is a value that was written.
type Try struct {
	Value    int64 `json:"value"`
	Accepted bool  `json:"accepted"` // and read back
}

// Range are the inclusive ends that the catalog knows; nil is open.
type Range struct {
	Min *int64 `json:"min,omitempty"`
	Max *int64 `json:"max,omitempty"`
}

// Tries are the ends and one beyond each, as far as integers go.
func (r Range) Tries() (values []int64) {
	if r.Min != nil {
		values = append(values, *r.Min)
		if *r.Min > math.MinInt64 {
			values = append(values, *r.Min-1)
		}
	}
	if r.Max != nil {
		values = append(values, *r.Max)
		if *r.Max < math.MaxInt64 {
			values = append(values, *r.Max+1)
		}
	}
	return values
}

// Dump is a kernel with its settings.
type Dump struct {
	Machine
	Settings []Setting
	// Writability says that Setting.Writable was asked for.
	Writability bool
	probed      bool // by our own program, which says when it is done
}

// maxLine bounds a line of a dump.
const maxLine = 1 << 20

// writableMark comes before the names that a BSD's sysctl calls writable.
const writableMark = "# writable"

// Read reads what the probe printed, or of a BSD the lines of uname -sr and of
// sysctl -a, and after a line "# writable" those of sysctl -aWN. A dump of the probe
// that lacks its end is an error.
func Read(r io.Reader) (Dump, error) {
	var d Dump
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLine)
	writable, marked := map[string]bool{}, false
	for scan.Scan() {
		line := strings.TrimRight(scan.Text(), "\r")
		if marked = marked || line == writableMark; marked {
			writable[line] = true
			continue
		}
		if strings.HasPrefix(line, "{") {
			if err := d.addJSON(line); err != nil {
				return d, err
			}
			continue
		}
		d.addText(line)
	}
	if len(writable) > 1 {
		d.Writability = true
		for i := range d.Settings {
			d.Settings[i].Writable = writable[d.Settings[i].Name]
		}
	}
	switch {
	case scan.Err() != nil:
		return d, scan.Err()
	case d.System == "":
		return d, errors.New("which system it is of is not said: put the output of uname -sr first")
	case d.probed && !d.End:
		return d, errors.New("the dump has no end: the kernel stopped in the middle")
	}
	return d, nil
}

func (d *Dump) addJSON(line string) error {
	var both struct {
		Machine
		Setting
	}
	if err := json.Unmarshal([]byte(line), &both); err != nil {
		return fmt.Errorf("%.60q: %w", line, err)
	}
	switch {
	case both.Name != "":
		d.Settings = append(d.Settings, both.Setting)
	case both.End:
		d.End, d.Writability = true, true
	default:
		d.Machine, d.probed = both.Machine, true
	}
	return nil
}

var (
	unamePattern  = regexp.MustCompile(`^(FreeBSD|OpenBSD|Linux) (?:[^0-9 ]\S* )?([0-9]+\.[0-9]+\S*)`)
	sysctlPattern = regexp.MustCompile(`^([a-z][A-Za-z0-9_%-]*(?:\.[A-Za-z0-9_%-]+)+)(?:: |:$| = |=)(.*)$`)
)

// addText reads a line of a BSD; values of several lines keep their first.
func (d *Dump) addText(line string) {
	if m := unamePattern.FindStringSubmatch(line); m != nil && d.System == "" {
		d.System, d.Release = strings.ToLower(m[1]), m[2]
		return
	}
	if m := sysctlPattern.FindStringSubmatch(line); m != nil {
		d.Settings = append(d.Settings, Setting{Name: m[1], Value: strings.TrimSpace(m[2]), Read: true})
	}
}
