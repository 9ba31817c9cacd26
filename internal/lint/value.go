package lint

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// reading is a value as the system understands it.
type reading struct {
	words   []string
	numbers []float64 // one for each word, when all are numbers
	numeric bool
	// refused says why the system refuses the value, "" when it takes it.
	refused string
	// extra is true of numbers behind the only one that the kernel reads.
	extra bool
}

// read reads a value by the rules of its place. Values of types that are not
// judged come back as words alone.
func (k *checker) read(r *catalog.Record, value, place string) reading {
	v := reading{words: strings.Fields(value)}
	switch r.Type {
	case catalog.TypeString, catalog.TypeOpaque:
		return v
	case catalog.TypeBool:
		if on, ok := truth(value); ok && place != "sysctl" {
			v.numbers, v.numeric = []float64{on}, true
			return v
		}
	case catalog.TypeEnum:
		if !allNumeric(r.Values) {
			return v
		}
	case catalog.TypeList, catalog.TypeBitmask:
		v.readNumbers(k, place)
		v.refused = ""
		return v
	}
	if k.system == catalog.FreeBSD && place == "sysctl" {
		v.words = strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' })
	}
	if k.system == catalog.Linux && place == "sysctl" {
		v.dropComment()
		if r.Type != catalog.TypeTriple && len(v.words) > 1 {
			v.words, v.extra = v.words[:1], true // the kernel reads the first number and stops
		}
	}
	v.readNumbers(k, place)
	if place != "sysctl" && place != "loader" {
		v.refused = ""
	}
	if k.system == catalog.OpenBSD && place == "sysctl" && v.numeric && r.Name != "kern.hostid" &&
		slices.ContainsFunc(v.numbers, func(n float64) bool { return n > math.MaxInt32 || n < math.MinInt32 }) {
		v.refused, v.numbers, v.numeric = "sysctl(8) takes none beyond 2147483647", nil, false
	}
	return v
}

// dropComment drops the words from one that begins with '#', which the kernel
// never gets to when it has read its numbers.
func (v *reading) dropComment() {
	for i, w := range v.words {
		if i > 0 && strings.HasPrefix(w, "#") {
			v.words = v.words[:i]
			return
		}
	}
}

func (v *reading) readNumbers(k *checker, place string) {
	if len(v.words) == 0 {
		v.refused = "it is empty"
		return
	}
	for _, w := range v.words {
		n, ok := parseNumber(w, k.system, place)
		if !ok {
			v.refused = strconv.Quote(w) + " is not a whole number"
			v.numbers = nil
			return
		}
		v.numbers = append(v.numbers, n)
	}
	v.numeric = true
}

// parseNumber reads a whole number: decimal, and except on OpenBSD (strtonum)
// also hexadecimal and octal, as strtol with base 0 does. FreeBSD's loader
// tunables take the suffixes k, m, g and t (sys/kern/kern_environment.c,
// getenv_quad).
func parseNumber(w string, system catalog.System, place string) (float64, bool) {
	scale := 1.0
	if place == "loader" && len(w) > 1 {
		switch w[len(w)-1] | 0x20 {
		case 'k':
			scale = 1 << 10
		case 'm':
			scale = 1 << 20
		case 'g':
			scale = 1 << 30
		case 't':
			scale = 1 << 40
		}
		if scale > 1 {
			w = w[:len(w)-1]
		}
	}
	base := 10
	digits := strings.TrimLeft(w, "+-")
	if len(w)-len(digits) > 1 {
		return 0, false
	}
	if system != catalog.OpenBSD {
		switch {
		case strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X"):
			base, digits = 16, digits[2:]
		case len(digits) > 1 && digits[0] == '0':
			base, digits = 8, digits[1:]
		}
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, false
	}
	if strings.HasPrefix(w, "-") {
		return -float64(n) * scale, true
	}
	return float64(n) * scale, true
}

// truth reads a switch of rc.conf, ethtool or ifconfig.
func truth(value string) (float64, bool) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "on", "yes", "true", "enabled":
		return 1, true
	case "0", "off", "no", "false", "disabled", "none":
		return 0, true
	}
	return 0, false
}

func allNumeric(values []catalog.Value) bool {
	for _, v := range values {
		if _, err := strconv.ParseInt(v.Value, 0, 64); err != nil {
			return false
		}
	}
	return len(values) > 0
}

// inputs returns what a judgement computes with.
func (k *checker) inputs(e conffile.Entry, v reading, version catalog.Version) catalog.Inputs {
	in := catalog.Inputs{"version": string(version)}
	if m := k.opt.Machine; m != nil {
		for name, value := range m.Inputs {
			in[name] = value
		}
	}
	in["role"] = k.role() // "" is none of the roles
	if k.opt.Driver != "" {
		in["driver"] = k.opt.Driver
	}
	switch {
	case v.numeric:
		in["value"] = v.numbers[0]
		if len(v.numbers) > 3 {
			in["fourth"] = v.numbers[3]
		}
		if len(v.numbers) == 3 {
			in["low"], in["mid"], in["high"] = v.numbers[0], v.numbers[1], v.numbers[2]
		}
	case v.refused == "":
		in["value"] = strings.TrimSpace(e.Value)
	}
	return in
}

// assumed are the machine that a computed default is taken from when nothing
// is known about the real one. Problems that rest on it are infos.
var assumed = catalog.Inputs{"memory": float64(16 << 30), "page": 4096.0, "cores": 8.0}

// assumedText names it in messages.
const assumedText = "(A machine with 16 GiB of memory is assumed.)"

// defaultOf is what a default is computed from: one of machines, or, with no number,
// what is known or assumed.
type defaultOf struct {
	record  *catalog.Record
	version catalog.Version
	role    string
	machine int
}

// judged is the machine of which the inputs of a judgement tell.
const judged = -1

// computed is a default; exact is false when it rests on the assumed machine.
type computed struct {
	text  string
	exact bool
}

// defaultOn is a setting's default, computed once for a file of many values.
func (k *checker) defaultOn(machine int, r *catalog.Record, version catalog.Version,
	in catalog.Inputs) (text string, exact bool) {
	q := defaultOf{r, version, k.role(), machine}
	d, done := k.defaults[q]
	if !done {
		if machine != judged {
			with := maps.Clone(machines[machine])
			maps.Copy(with, in)
			in = with
		}
		d.text, d.exact = defaultValue(r, version, in)
		k.defaults[q] = d
	}
	return d.text, d.exact
}

// standard is like the function, of the machine that is known or assumed.
func (k *checker) standard(r *catalog.Record, version catalog.Version, in catalog.Inputs) (n float64, exact, ok bool) {
	text, exact := k.defaultOn(judged, r, version, in)
	n, ok = lastNumber(text)
	return n, exact && ok, ok
}

// standard returns the default of a setting as a number (the maximum of a
// triple); exact is false when it rests on the assumed machine.
func standard(r *catalog.Record, version catalog.Version, in catalog.Inputs) (n float64, exact, ok bool) {
	text, exact := defaultValue(r, version, in)
	n, ok = lastNumber(text)
	return n, exact && ok, ok
}

// defaultValue returns a setting's default as text, "" when it is not known; exact is
// false when it rests on the assumed machine.
func defaultValue(r *catalog.Record, version catalog.Version, in catalog.Inputs) (text string, exact bool) {
	d, has := r.DefaultIn(version)
	if !has || d.Formula == "" {
		return d.Value, has
	}
	if result, err := r.Eval(d.Formula, in); err == nil {
		return result.Text(), true
	}
	with := maps.Clone(assumed)
	with["version"] = string(version)
	maps.Copy(with, in)
	result, err := r.Eval(d.Formula, with)
	if err != nil {
		return "", false
	}
	return result.Text(), false
}

// defaultWords are the words of a setting's default.
func (k *checker) defaultWords(r *catalog.Record, version catalog.Version, in catalog.Inputs) []string {
	text, _ := k.defaultOn(judged, r, version, in)
	return strings.Fields(text)
}

// smallest is the number of the smallest of the machines.
const smallest = 0

// machines span those that files are written for. What holds on each of them is
// certain of a machine that is not known; the second is the assumed one.
var machines = [3]catalog.Inputs{
	{"memory": float64(2 << 30), "page": 4096.0, "cores": 2.0}, assumed,
	{"memory": float64(512 << 30), "page": 4096.0, "cores": 64.0},
}

// standardOn is the default on one of the machines; what is known goes before.
func (k *checker) standardOn(machine int, r *catalog.Record, version catalog.Version,
	in catalog.Inputs) (float64, bool) {
	text, exact := k.defaultOn(machine, r, version, in)
	n, ok := lastNumber(text)
	return n, exact && ok
}

// supposed are the inputs of a setting's judgements, with those of each of the machines where they are asked for: the
// default there goes before what is known, and that before the machine.
type supposed struct {
	known   []catalog.Inputs
	version catalog.Version
	with    [len(machines)][]catalog.Inputs
}

// on are the inputs on one of the machines.
func (s *supposed) on(k *checker, r *catalog.Record, machine int) []catalog.Inputs {
	if s.with[machine] == nil {
		var standard catalog.Inputs
		if normal, ok := k.standardOn(machine, r, s.version, s.known[len(s.known)-1]); ok {
			standard = catalog.Inputs{"standard": normal}
		}
		s.with[machine] = slices.Concat([]catalog.Inputs{standard}, s.known, machines[machine:machine+1])
	}
	return s.with[machine]
}

// holds evaluates a judgement. One that asks for what is not known of the
// machine holds when it does on the assumed one, and is certain when it does on
// all of them, or for a typical one on all but the smallest.
func (k *checker) holds(r *catalog.Record, j catalog.Judgement, s *supposed) (held, certain bool) {
	held, err := r.Holds(j.When, s.known...)
	unknown, is := errors.AsType[*catalog.UnknownInput](err)
	if !is {
		return held && err == nil, true
	}
	if _, machine := assumed[unknown.Name]; !machine && unknown.Name != "standard" {
		return false, false
	}
	certain = true
	for i := range machines {
		on, err := r.Holds(j.When, s.on(k, r, i)...)
		if err != nil {
			return false, false
		}
		if i == 1 {
			held = on
		}
		certain = certain && (on || i == 0 && j.Typical)
	}
	return held, certain
}

func lastNumber(text string) (float64, bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(words[len(words)-1], 64)
	return n, err == nil
}

// sameValue reports whether a value is a default as the catalog writes it.
func sameValue(v reading, standard string) bool {
	words := strings.Fields(standard)
	if len(words) != len(v.words) || len(words) == 0 {
		return false
	}
	for i, w := range words {
		if w == v.words[i] {
			continue
		}
		n, err := strconv.ParseInt(w, 0, 64)
		if on, ok := truth(w); err != nil && ok {
			n, err = int64(on), nil
		}
		if err != nil || !v.numeric || v.numbers[i] != float64(n) {
			return false
		}
	}
	return true
}

// leastDefault is the least that a limit's default can be in a release for which
// it is only known within bounds: the last one that is known.
func leastDefault(r *catalog.Record, version catalog.Version) (float64, bool) {
	if d, ok := r.DefaultIn(version); !ok || d.AtMost == "" {
		return 0, false
	}
	least, known := 0.0, false
	for _, d := range r.Default {
		if n, ok := lastNumber(d.Value); ok && d.Formula == "" && version.AtLeast(d.Since) {
			least, known = n, true
		}
	}
	return least, known
}
