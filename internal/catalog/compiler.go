package catalog

import (
	"fmt"
	"math"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// compiler keeps what it has compiled: a file of 500 lines asks the same
// conditions 500 times. Its zero value is ready; it is safe for concurrent use.
type compiler struct {
	mu   sync.Mutex
	done map[question]*expression
}

// question is an expression with the type that value has in it: text of a
// setting that is not numeric, else a number.
type question struct {
	text  string
	value bool // whether value is text
}

// expression is a compiled expression; err is what is wrong with it.
type expression struct {
	text      string
	names     []*ast.IdentifierNode // of inputs and constants, in order
	constants map[string]any
	program   *vm.Program
	err       error
}

func (c *compiler) eval(text string, in Inputs) (Result, error) {
	e, run := c.compiled(text, in), newRun()
	defer run.done()
	out, err := run.of(e, in)
	if err != nil {
		return Result{}, err
	}
	env := run.env
	res := Result{Value: out, Working: fillIn(text, e.names, env), Used: Inputs{}}
	for _, id := range e.names {
		if _, fixed := e.constants[id.Value]; !fixed {
			res.Used[id.Value] = env[id.Value]
		}
	}
	return res, nil
}

func (c *compiler) holds(condition string, in ...Inputs) (bool, error) {
	if condition == "" {
		return true, nil
	}
	run := newRun()
	defer run.done()
	out, err := run.of(c.compiled(condition, in...), in...)
	if err != nil {
		return false, err
	}
	b, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("formula %q: a condition is expected", condition)
	}
	return b, nil
}

// compiled is an expression for inputs of these types.
func (c *compiler) compiled(text string, in ...Inputs) *expression {
	value, _ := input("value", in)
	_, word := value.(string)
	q := question{text, word}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.done[q]; e != nil {
		return e
	}
	if c.done == nil {
		c.done = map[question]*expression{}
	}
	e := compile(q)
	c.done[q] = e
	return e
}

func compile(q question) *expression {
	e := &expression{text: q.text, constants: constants()}
	tree, err := parser.Parse(q.text)
	if err != nil {
		e.err = fmt.Errorf("formula %q: %w", q.text, err)
		return e
	}
	var names identifiers
	ast.Walk(&tree.Node, &names)
	types := declared(q.value)
	for _, id := range names.found {
		if _, known := types[id.Value]; !known {
			e.err = fmt.Errorf("formula %q: there is no input %q", q.text, id.Value)
			return e
		}
	}
	e.names = names.found
	if e.program, err = expr.Compile(q.text, append(functions(), expr.Env(types))...); err != nil {
		e.err = fmt.Errorf("formula %q: %w", q.text, err)
	}
	return e
}

// declared gives every name an example of its type.
func declared(value bool) map[string]any {
	types := constants()
	for _, n := range InputNames() {
		types[n.Name] = 0.0
		if n.Text || value && n.Name == "value" {
			types[n.Name] = ""
		}
	}
	return types
}

// input is what a name stands for in the first of the inputs that have it.
func input(name string, in []Inputs) (v any, known bool) {
	for _, i := range in {
		if v, known = i[name]; known {
			break
		}
	}
	return v, known
}

// evaluation is one run of an expression: what its names stand for, and the machine that runs it.
type evaluation struct {
	env map[string]any
	vm  vm.VM
}

// evaluations are those that wait for the next expression, of which a file of many settings has thousands.
var evaluations = sync.Pool{New: func() any { return &evaluation{env: map[string]any{}} }}

func newRun() *evaluation { return evaluations.Get().(*evaluation) }

func (r *evaluation) done() {
	clear(r.env)
	evaluations.Put(r)
}

// of evaluates an expression; what its names stood for is in env until done.
func (r *evaluation) of(e *expression, in ...Inputs) (out any, err error) {
	r.env["version"], _ = input("version", in)
	// What is not known comes before a wrong type: that of an absent value is
	// not known either.
	for _, id := range e.names {
		if v, fixed := e.constants[id.Value]; fixed {
			r.env[id.Value] = v
			continue
		}
		v, known := input(id.Value, in)
		if !known {
			return nil, &UnknownInput{id.Value}
		}
		r.env[id.Value] = asFloat(v)
	}
	if e.err != nil {
		return nil, e.err
	}
	if out, err = r.vm.Run(e.program, r.env); err != nil {
		return nil, fmt.Errorf("formula %q: %w", e.text, err)
	}
	if f, ok := out.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, fmt.Errorf("formula %q: the result is not a finite number", e.text)
	}
	return out, nil
}
