package catalog

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// Roles lists what a host can be for.
func Roles() []string {
	return []string{"bulk", "web", "file", "router", "dns", "latency", "home"}
}

// Inputs are the quantities that formulas and judgements compute with, by the
// names of InputNames, in base units. Absent inputs are unknown.
type Inputs map[string]any

// InputName describes one input.
type InputName struct {
	Name, Unit, Means string
	// Text marks an input that is a string rather than a number.
	Text bool
}

// InputNames lists every input that an expression may name.
func InputNames() []InputName {
	return []InputName{
		{Name: "rate", Unit: "bit/s", Means: "bottleneck rate of the path"},
		{Name: "rtt", Unit: "s", Means: "base round-trip time of the path"},
		{Name: "loss", Unit: "probability", Means: "segment loss rate of the path"},
		{Name: "mtu", Unit: "bytes", Means: "path MTU"},
		{Name: "mss", Unit: "bytes", Means: "TCP payload per segment on the path, timestamps on"},
		{Name: "bdp", Unit: "bytes", Means: "bandwidth-delay product, rate*rtt/8"},
		{Name: "nic_rate", Unit: "bit/s", Means: "speed of the interface"},
		{Name: "memory", Unit: "bytes", Means: "physical memory"},
		{Name: "page", Unit: "bytes", Means: "page size"},
		{Name: "cores", Unit: "count", Means: "processors online"},
		{Name: "queues", Unit: "count", Means: "hardware queues of the interface"},
		{Name: "connections", Unit: "count", Means: "TCP connections open at once"},
		{Name: "conn_rate", Unit: "1/s", Means: "new TCP connections per second"},
		{Name: "packet_rate", Unit: "1/s", Means: "packets per second"},
		{Name: "states", Unit: "count", Means: "firewall or conntrack states at once"},
		{Name: "hosts", Unit: "count", Means: "neighbours on the attached networks"},
		{Name: "interfaces", Unit: "count", Means: "physical interfaces"},
		{Name: "disk_rate", Unit: "byte/s", Means: "sustained write rate of the pool"},
		{Name: "disk_depth", Unit: "count", Means: "operations that keep one drive busy: its rate of operations " +
			"times the time of one"},
		{Name: "disks", Unit: "count", Means: "drives of the pool"},
		{Name: "share", Unit: "bytes", Means: "what one direction of a connection may hold: on Linux, where tcp_mem " +
			"bounds all of them, a sixteenth of the memory; elsewhere its part of half the memory when all " +
			"connections take theirs, less the system's own overhead"},
		{Name: "ring_max", Unit: "count", Means: "largest ring the NIC offers"},
		{Name: "role", Means: "bulk, web, file, router, dns, latency or home", Text: true},
		{Name: "driver", Means: "driver of the interface", Text: true},
		{Name: "version", Means: "release of the system; compare with since(\"x.y\")", Text: true},
		{Name: "value", Means: "configured value (judgements only)"},
		{Name: "low", Means: "first number of a configured triple (judgements only)"},
		{Name: "mid", Means: "second number of a configured triple (judgements only)"},
		{Name: "high", Means: "third number of a configured triple (judgements only)"},
		{Name: "fourth", Means: "fourth number of a configured list (judgements only)"},
		{Name: "standard", Means: "default value of the setting in this version, its maximum for a triple"},
	}
}

// UnknownInput reports that an expression needs an input that is not known.
type UnknownInput struct{ Name string }

func (e *UnknownInput) Error() string { return "input " + e.Name + " is not known" }

// Result is an evaluated expression with its working.
type Result struct {
	// Value is a number, a bool or a string.
	Value any
	// Working is the expression with the numbers filled in.
	Working string
	// Used are the inputs that took part, by name.
	Used Inputs
}

// Text prints the value as a configuration file takes it: integers without a
// fraction, booleans as 1 and 0.
func (r Result) Text() string { return text(r.Value) }

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "1"
		}
		return "0"
	case int:
		return strconv.Itoa(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e18 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// Eval evaluates an expression of the record over known inputs; it is compiled
// once for all records of its catalog. Integer arithmetic is done in floating
// point, exact to 2^53. An input that is not known gives *UnknownInput; anything
// else wrong with the expression, or a result that is no finite number, is an error.
func (r *Record) Eval(expression string, in Inputs) (Result, error) {
	return r.compiler().eval(expression, in)
}

// Holds evaluates a condition of the record, which is compiled once for all
// records of its catalog; the empty condition holds. A name stands for what the
// first of the inputs that have it says.
func (r *Record) Holds(condition string, in ...Inputs) (bool, error) {
	return r.compiler().holds(condition, in...)
}

// propose evaluates the formula for given inputs: nil when its condition does
// not hold.
func (f *Formula) propose(c *compiler, in Inputs) (*Result, error) {
	ok, err := c.holds(f.When, in)
	if err != nil || !ok {
		return nil, err
	}
	r, err := c.eval(f.Value, in)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

func (r *Record) compiler() *compiler {
	if r.expressions != nil {
		return r.expressions
	}
	return new(compiler)
}

const (
	kib = 1024.0
	mib = 1024 * kib
	gib = 1024 * mib
)

// constants are the names with fixed values.
func constants() map[string]any {
	return map[string]any{"KiB": kib, "MiB": mib, "GiB": gib, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
}

// asFloat makes every number a float64 and leaves the rest.
func asFloat(v any) any {
	switch n := v.(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	}
	return v
}

// functions are the language's additions. They compute with their arguments
// alone, so that one compiled expression serves all inputs.
func functions() []expr.Option {
	number := func(f func(a ...float64) any) func(params ...any) (any, error) {
		return func(params ...any) (any, error) {
			args := make([]float64, len(params))
			for i, p := range params {
				v, ok := toFloat(p)
				if !ok {
					return nil, fmt.Errorf("%v is not a number", p)
				}
				args[i] = v
			}
			return f(args...), nil
		}
	}
	one := new(func(any) float64)
	return []expr.Option{
		expr.Function("pow2", number(func(a ...float64) any {
			return math.Exp2(math.Ceil(math.Log2(math.Max(a[0], 1))))
		}), one),
		expr.Function("log2", number(func(a ...float64) any { return math.Log2(a[0]) }), one),
		expr.Function("sqrt", number(func(a ...float64) any { return math.Sqrt(a[0]) }), one),
		expr.Function("clamp", number(func(a ...float64) any {
			return math.Min(math.Max(a[0], a[1]), a[2])
		}), new(func(any, any, any) float64)),
		expr.Function("triple", number(func(a ...float64) any {
			return text(math.Round(a[0])) + " " + text(math.Round(a[1])) + " " + text(math.Round(a[2]))
		}), new(func(any, any, any) string)),
		expr.Function("since", func(params ...any) (any, error) {
			release, _ := params[1].(string)
			if release == "" {
				return nil, errors.New("since() needs the version")
			}
			return Version(release).AtLeast(Version(params[0].(string))), nil
		}, new(func(string, any) bool)),
		expr.Patch(versioned{}),
	}
}

// versioned hands the version to since("x.y") as a second argument.
type versioned struct{}

func (versioned) Visit(node *ast.Node) {
	if call, ok := (*node).(*ast.CallNode); ok && len(call.Arguments) == 1 {
		if name, ok := call.Callee.(*ast.IdentifierNode); ok && name.Value == "since" {
			call.Arguments = append(call.Arguments, &ast.IdentifierNode{Value: "version"})
		}
	}
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// identifiers collects the names that an expression refers to, in order.
type identifiers struct{ found []*ast.IdentifierNode }

func (v *identifiers) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok && !isFunction(id.Value) {
		v.found = append(v.found, id)
	}
}

func isFunction(name string) bool {
	return slices.Contains([]string{"pow2", "log2", "sqrt", "clamp", "triple", "since"}, name)
}

// fillIn replaces the inputs of an expression by their values.
func fillIn(expression string, ids []*ast.IdentifierNode, env map[string]any) string {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b *ast.IdentifierNode) int { return a.Location().From - b.Location().From })
	runes := []rune(expression)
	var b strings.Builder
	last := 0
	for _, id := range sorted {
		loc := id.Location()
		if loc.From < last || loc.To > len(runes) || string(runes[loc.From:loc.To]) != id.Value {
			continue
		}
		b.WriteString(string(runes[last:loc.From]))
		b.WriteString(shown(id.Value, env[id.Value]))
		last = loc.To
	}
	b.WriteString(string(runes[last:]))
	return b.String()
}

func shown(name string, v any) string {
	switch v := v.(type) {
	case float64:
		switch name {
		case "KiB", "MiB", "GiB", "kbit", "mbit", "gbit":
			return name
		}
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}
