// Package calc computes single formulas of paths, hosts and disks from inputs as people write them, and shows its
// working.
package calc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// Quantity says how an input of a calculation is written and a result shown.
type Quantity string

// The quantities.
const (
	QRate     Quantity = "rate"     // bit/s
	QSpeed    Quantity = "speed"    // byte/s
	QBytes    Quantity = "bytes"    // bytes
	QTime     Quantity = "time"     // s
	QNumber   Quantity = "number"   // a plain number
	QPerSec   Quantity = "per-s"    // 1/s
	QFraction Quantity = "fraction" // 0 to 1, also written in percent
	QWord     Quantity = "word"
)

// Input is one input of a calculation.
type Input struct {
	Name    string
	Is      Quantity
	Default string // empty: it must be given
	Means   string
}

// Result is one number that a calculation gives.
type Result struct {
	Name string `json:"name"`
	// Value is in base units: bit/s, byte/s, bytes, s.
	Value   float64  `json:"value"`
	Unit    Quantity `json:"unit"`
	Shown   string   `json:"-"`
	Formula string   `json:"formula"`
	Working string   `json:"working"`
	Note    string   `json:"note,omitempty"`
}

// Formula is one formula of the documents, by itself.
type Formula struct {
	Name, Title string
	Inputs      []Input
	Sources     []string
	compute     func(c *working)
}

// Outcome is the outcome of a calculation.
type Outcome struct {
	Schema  int            `json:"schema"`
	Name    string         `json:"name"`
	Inputs  map[string]any `json:"inputs"`
	Results []Result       `json:"results"`
	Sources []string       `json:"sources"`
	// Corrections say where the guides' own examples of the formula are
	// wrong.
	Corrections []string `json:"corrections,omitempty"`
}

// corrections are the guides' examples that do not hold, by formula.
var corrections = map[string][]string{
	"bus": {
		"the OpenBSD speed guide has 1000 Mbit/s / 8 = 128 MB/s: it is 125",
		"the OpenBSD speed guide has PCI-X at 133 MHz and 64 bits at 8192 Mbit/s: 133 * 64 is 8512, and its own " +
			"1064 MB/s " +
			"agree with that",
		"the OpenBSD speed guide has PCIe 4.0 x8 at 11.7 GB/s: 8 lanes of 1.969 GB/s are 15.75",
		"the OpenBSD speed guide lets standard PCI run at 66 or 133 MHz: it is 33 or 66, and 133 is PCI-X",
	},
	"mss": {
		"the FreeBSD tuning guide counts 1448 and 1228 bytes of payload against the frame (1514, 1294) but 524 bytes " +
			"against the packet (576): against its frame of 590 bytes they are 88.8%, not 90.9%",
		"none of the guides counts preamble, check sequence and gap, 24 bytes that the link spends on each frame",
	},
	"wscale": {
		"the FreeBSD tuning guide rounds 65535 to 65 KB: in flight are 4.2, 8.4, 33.6, 268 and 1074 MB at scales 6, " +
			"7, 9, " +
			"12 and 14",
		"FreeBSD bounds the window by net.inet.tcp.recvbuf_max whatever the scale: a larger kern.ipc.maxsockbuf alone " +
			"lets nothing more be in flight",
	},
	"timewait": {
		"the optimization guide calls net.inet.tcp.msl=5000 half of the TIME_WAIT duration: from twice 30 s to " +
			"twice 5 s " +
			"is a sixth",
	},
	"dirty": {
		"the FreeBSD tuning guide has 25% of 64 GB as 16 MB: it is 16 GB",
		"the FreeBSD tuning guide's 14.16 GB at 2.62 GB/s take 5.4 s, at 1.95 GB/s 7.3 s",
	},
	"qdepth": {
		"the FreeBSD tuning guide multiplies a data sheet's 32 by 4 threads: what keeps a drive busy is its rate " +
			"times " +
			"the time of one operation",
	},
	"queue": {
		"the FreeBSD tuning guide's 50 ms (and its twice the transmit ring) are as many milliseconds of delay when " +
			"the " +
			"queue is full",
	},
	"backlog": {
		"the FreeBSD tuning guide subtracts the backlog from arrivals per second: what must fit is the rate times the " +
			"longest pause of the program",
	},
}

// working is a calculation under way.
type working struct {
	num     map[string]float64
	word    map[string]string
	results []Result
	err     error
}

// give adds a result. The working is the formula with its inputs' numbers
// filled in.
func (w *working) give(name string, unit Quantity, value float64, formula, note string) {
	if w.err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
		w.err = fmt.Errorf("%s has no finite value with these inputs", name)
	}
	w.results = append(w.results, Result{Name: name, Value: value, Unit: unit, Shown: showQuantity(unit, value),
		Formula: formula, Working: w.fill(formula), Note: note})
	w.num[name] = value
}

func (w *working) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// fill puts numbers in the place of names.
func (w *working) fill(formula string) string {
	var b strings.Builder
	for i := 0; i < len(formula); {
		j := i
		for j < len(formula) && (formula[j] == '_' || formula[j] >= 'a' && formula[j] <= 'z' ||
			formula[j] >= 'A' && formula[j] <= 'Z' || j > i && formula[j] >= '0' && formula[j] <= '9') {
			j++
		}
		if j == i {
			b.WriteByte(formula[i])
			i++
			continue
		}
		if v, ok := w.num[formula[i:j]]; ok {
			b.WriteString(plainNumber(v))
		} else {
			b.WriteString(formula[i:j])
		}
		i = j
	}
	return b.String()
}

// All lists every formula, in the order of the documentation.
func All() []Formula {
	return slices.Concat(pathFormulas(), hostFormulas(), cardFormulas(), diskFormulas())
}

// Find returns a formula by its name.
func Find(name string) (Formula, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Formula) bool { return c.Name == name })
	if i < 0 {
		return Formula{}, false
	}
	return all[i], true
}

// Calculate computes with inputs written as NAME=VALUE.
func (c Formula) Calculate(fields []units.Field) (Outcome, error) {
	w := &working{num: map[string]float64{}, word: map[string]string{}}
	given := map[string]string{}
	for _, f := range fields {
		if !slices.ContainsFunc(c.Inputs, func(i Input) bool { return i.Name == f.Key }) {
			return Outcome{}, fmt.Errorf("%s: there is no input %q; known are %s", c.Name, f.Key, c.inputNames())
		}
		given[f.Key] = f.Value
	}
	out := Outcome{Schema: 1, Name: c.Name, Inputs: map[string]any{}, Sources: c.Sources,
		Corrections: corrections[c.Name]}
	for _, in := range c.Inputs {
		text, ok := given[in.Name]
		if !ok {
			text = in.Default
		}
		if text == "" {
			return out, fmt.Errorf("%s: %s is missing: %s, such as %s", c.Name, in.Name, in.Means, exampleOf(in))
		}
		if in.Is == QWord {
			text = plainWord(in.Name, text)
			w.word[in.Name], out.Inputs[in.Name] = text, text
			continue
		}
		v, err := parseQuantity(in.Is, text)
		if err != nil {
			return out, fmt.Errorf("%s: %s: %w", c.Name, in.Name, err)
		}
		if why := impossible(in, v); why != "" {
			return out, fmt.Errorf("%s: %s %q: %s", c.Name, in.Name, text, why)
		}
		w.num[in.Name], out.Inputs[in.Name] = v, v
	}
	c.compute(w)
	out.Results = w.results
	if w.err != nil {
		return out, fmt.Errorf("%s: %w", c.Name, w.err)
	}
	return out, nil
}

// impossible says why an input that is written well cannot be.
func impossible(in Input, v float64) string {
	switch {
	case in.Is == QRate && v <= 0:
		return "a rate above 0 is expected"
	case in.Name == "rtt" && v == 0:
		return "a time above 0 is expected"
	case in.Name == "mtu" && (v < 68 || v > 65535):
		return "68 to 65535 bytes are expected"
	}
	return ""
}

func (c Formula) inputNames() string {
	var names []string
	for _, in := range c.Inputs {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

func exampleOf(in Input) string {
	example := map[Quantity]string{QRate: "10gbit", QSpeed: "2GB", QBytes: "64MiB", QTime: "50ms", QNumber: "1000",
		QPerSec: "1000", QFraction: "0.01%"}[in.Is]
	return in.Name + "=" + example
}

// showQuantity prints a value with its unit.
func showQuantity(unit Quantity, v float64) string {
	decimal := func(v float64, unit string) string {
		for _, s := range []struct {
			factor float64
			prefix string
		}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}} {
			if math.Abs(v) >= s.factor {
				return strconv.FormatFloat(v/s.factor, 'g', 4, 64) + " " + s.prefix + unit
			}
		}
		return strconv.FormatFloat(v, 'g', 4, 64) + " " + unit
	}
	switch unit {
	case QRate:
		return decimal(v, "bit/s")
	case QSpeed:
		return decimal(v, "B/s")
	case QBytes:
		return fmt.Sprintf("%.0f bytes (%s)", v, units.Bytes(v))
	case QTime:
		if v >= 60 || v == 0 {
			return strconv.FormatFloat(v, 'g', 6, 64) + " s"
		}
		return decimal(v, "s")
	case QFraction:
		return strconv.FormatFloat(v*100, 'g', 4, 64) + "%"
	case QPerSec:
		return plainNumber(v) + " per second"
	}
	return plainNumber(v)
}

// plainNumber prints whole numbers in full and others with five digits.
func plainNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}
