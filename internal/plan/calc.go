package plan

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
	QWatt     Quantity = "W"
	QVolt     Quantity = "V"
	QFarad    Quantity = "F"
)

// CalcInput is one input of a calculation.
type CalcInput struct {
	Name    string
	Is      Quantity
	Default string // empty: it must be given
	Means   string
}

// CalcResult is one number that a calculation gives.
type CalcResult struct {
	Name string `json:"name"`
	// Value is in base units: bit/s, byte/s, bytes, s, W, V, F.
	Value   float64  `json:"value"`
	Unit    Quantity `json:"unit"`
	Shown   string   `json:"-"`
	Formula string   `json:"formula"`
	Working string   `json:"working"`
	Note    string   `json:"note,omitempty"`
}

// Calculation is one formula of the documents, by itself.
type Calculation struct {
	Name, Title string
	Inputs      []CalcInput
	Sources     []string
	compute     func(c *working)
}

// Calculated is the outcome of a calculation.
type Calculated struct {
	Schema  int            `json:"schema"`
	Name    string         `json:"name"`
	Inputs  map[string]any `json:"inputs"`
	Results []CalcResult   `json:"results"`
	Sources []string       `json:"sources"`
}

// working is a calculation under way.
type working struct {
	num     map[string]float64
	word    map[string]string
	results []CalcResult
	err     error
}

// give adds a result. The working is the formula with its inputs' numbers
// filled in.
func (w *working) give(name string, unit Quantity, value float64, formula, note string) {
	if w.err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
		w.err = fmt.Errorf("%s has no finite value with these inputs", name)
	}
	w.results = append(w.results, CalcResult{Name: name, Value: value, Unit: unit, Shown: ShowQuantity(unit, value), Formula: formula, Working: w.fill(formula), Note: note})
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
		for j < len(formula) && (formula[j] == '_' || formula[j] >= 'a' && formula[j] <= 'z' || formula[j] >= 'A' && formula[j] <= 'Z' || j > i && formula[j] >= '0' && formula[j] <= '9') {
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

// Calculations lists every calculation, in the order of the documentation.
func Calculations() []Calculation {
	return slices.Concat(pathCalculations(), hostCalculations(), diskCalculations())
}

// FindCalculation returns a calculation by its name.
func FindCalculation(name string) (Calculation, bool) {
	all := Calculations()
	i := slices.IndexFunc(all, func(c Calculation) bool { return c.Name == name })
	if i < 0 {
		return Calculation{}, false
	}
	return all[i], true
}

// Calculate computes with inputs written as NAME=VALUE.
func (c Calculation) Calculate(fields []units.Field) (Calculated, error) {
	w := &working{num: map[string]float64{}, word: map[string]string{}}
	given := map[string]string{}
	for _, f := range fields {
		if !slices.ContainsFunc(c.Inputs, func(i CalcInput) bool { return i.Name == f.Key }) {
			return Calculated{}, fmt.Errorf("%s: there is no input %q; known are %s", c.Name, f.Key, c.inputNames())
		}
		given[f.Key] = f.Value
	}
	out := Calculated{Schema: 1, Name: c.Name, Inputs: map[string]any{}, Sources: c.Sources}
	for _, in := range c.Inputs {
		text, ok := given[in.Name]
		if !ok {
			text = in.Default
		}
		if text == "" {
			return out, fmt.Errorf("%s: %s is missing: %s, such as %s", c.Name, in.Name, in.Means, exampleOf(in))
		}
		if in.Is == QWord {
			w.word[in.Name], out.Inputs[in.Name] = text, text
			continue
		}
		v, err := parseQuantity(in.Is, text)
		if err != nil {
			return out, fmt.Errorf("%s: %s: %w", c.Name, in.Name, err)
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

func (c Calculation) inputNames() string {
	var names []string
	for _, in := range c.Inputs {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

func exampleOf(in CalcInput) string {
	example := map[Quantity]string{QRate: "10gbit", QSpeed: "2GB", QBytes: "64MiB", QTime: "50ms", QNumber: "1000", QPerSec: "1000", QFraction: "0.01%", QWatt: "5", QVolt: "12", QFarad: "0.01"}[in.Is]
	return in.Name + "=" + example
}

func parseQuantity(is Quantity, s string) (float64, error) {
	switch is {
	case QRate:
		v, err := units.ParseRate(s)
		return float64(v), err
	case QBytes, QSpeed:
		v, err := units.ParseBytes(strings.TrimSuffix(s, "/s"))
		return float64(v), err
	case QTime:
		v, err := units.ParseDuration(s)
		return v.Seconds(), err
	case QFraction:
		number, percent := strings.CutSuffix(s, "%")
		v, err := strconv.ParseFloat(number, 64)
		if percent {
			v /= 100
		}
		if err != nil || !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("%q: a fraction from 0 to 1 is expected, like 0.001 or 0.1%%", s)
		}
		return v, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e18) {
		return 0, fmt.Errorf("%q: a number that is not negative is expected", s)
	}
	return v, nil
}

// ShowQuantity prints a value with its unit.
func ShowQuantity(unit Quantity, v float64) string {
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
	case QWatt, QVolt, QFarad:
		return decimal(v, string(unit))
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
