package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/regexp"
)

// The forms of arguments. None of them begins with a hyphen, and none names a
// file: files come through inRoots alone.
var (
	word     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:%+-]{0,63}$`)
	pathForm = regexp.MustCompile(`^[a-z0-9][a-z0-9=.,%+-]{0,199}$`)
	linkForm = regexp.MustCompile(`^(?:(?:rate|rtt|loss|mtu|queue|jitter)=[a-z0-9.%]+,?){1,8}$`)
	given    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,30}=[A-Za-z0-9][A-Za-z0-9.,%:+-]{0,60}$`)
	armForm  = regexp.MustCompile(`^(?:default|current|plan|cc:[a-z0-9_]{1,16}|` +
		`set:net\.[A-Za-z0-9_.]{1,80}=[A-Za-z0-9 ._-]{1,80})$`)
	runID    = regexp.MustCompile(`^(?:last|[0-9]{8}-[0-9]{6}-[0-9a-f]{1,16})$`)
	planName = regexp.MustCompile(`^plan-[1-9][0-9]{0,5}$`)
)

// flags collects the flags of a command line; what has no right form is kept as
// the error.
type flags struct {
	args []string
	err  error
}

func newFlags(verb string) *flags { return &flags{args: []string{verb, "--json"}} }

// set adds a flag with a value, unless the value is empty.
func (f *flags) set(flag, value string, form *regexp.Regexp) {
	if value == "" || f.err != nil {
		return
	}
	if !form.MatchString(value) {
		f.err = fmt.Errorf("%s %.80q: not of the form that is expected", flag, value)
		return
	}
	f.args = append(f.args, "--"+flag+"="+value)
}

// span adds a flag with a time within bounds.
func (f *flags) span(flag, value, otherwise string, low, high time.Duration) {
	if value == "" {
		value = otherwise
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < low || d > high {
		if f.err == nil {
			f.err = fmt.Errorf("%s %.80q: a time from %v to %v is expected", flag, value, low, high)
		}
		return
	}
	f.args = append(f.args, "--"+flag+"="+d.String())
}

// line adds the arguments, which nothing takes for flags.
func (f *flags) line(args ...string) *flags {
	f.args = append(append(f.args, "--"), args...)
	return f
}

type inspectIn struct {
	Host string `json:"host,omitempty" jsonschema:"host to ask, one of those that the server was started for; the first of them when empty"`
	From string `json:"from,omitempty" jsonschema:"capture, sosreport or pasted session to read instead of a host: a file below the server's folders"`
	Path string `json:"path,omitempty" jsonschema:"the path, such as rate=1gbit,rtt=80ms"`
	Role string `json:"role,omitempty" jsonschema:"bulk, web, file, router, dns, latency or home"`
	For  string `json:"for,omitempty" jsonschema:"time to observe the counters, such as 5s; at most 60s"`
}

func (s *Server) inspect(ctx context.Context, in inspectIn) (answer, error) {
	f := newFlags("inspect")
	f.set("path", in.Path, pathForm)
	f.set("role", in.Role, word)
	if in.From != "" {
		from, err := s.inRoots(in.From)
		if err != nil {
			return answer{}, err
		}
		f.args = append(f.args, "--from="+from)
		return s.run(ctx, f)
	}
	if in.For != "" {
		f.span("for", in.For, "", time.Second, time.Minute)
	}
	host, err := s.host(in.Host)
	if err != nil {
		return answer{}, err
	}
	return s.run(ctx, f.line(host))
}

type lintIn struct {
	Files   []string `json:"files,omitempty" jsonschema:"files or folders below the server's folders"`
	Name    string   `json:"name,omitempty" jsonschema:"with text: the name of the file, such as /etc/sysctl.conf, by which its kind is told"`
	Text    string   `json:"text,omitempty" jsonschema:"the text of a file, instead of files"`
	OS      string   `json:"os,omitempty" jsonschema:"freebsd, openbsd or linux"`
	Release string   `json:"release,omitempty" jsonschema:"release of the system, such as 14.3"`
	Role    string   `json:"role,omitempty" jsonschema:"bulk, web, file, router, dns, latency or home"`
}

func (s *Server) lint(ctx context.Context, in lintIn) (answer, error) {
	f := newFlags("lint")
	f.args = append(f.args, "--config=none", "--fail-on=never", "--quiet")
	f.set("os", in.OS, word)
	f.set("version", in.Release, word)
	f.set("role", in.Role, word)
	if f.err != nil {
		return answer{}, f.err
	}
	if in.Text != "" {
		return s.lintText(in)
	}
	var files []string
	for _, name := range in.Files {
		file, err := s.inRoots(name)
		if err != nil {
			return answer{}, err
		}
		files = append(files, file)
	}
	return s.run(ctx, f.line(files...))
}

// lintText judges a text; its name says what it is, no file of that name is
// looked at.
func (s *Server) lintText(in lintIn) (answer, error) {
	if len(in.Text) > conffile.MaxSize {
		return answer{}, fmt.Errorf("a text of %d bytes is too large", len(in.Text))
	}
	opt := lint.Options{System: catalog.System(in.OS), Role: in.Role}
	if in.OS != "" && !slices.Contains(catalog.Systems(), opt.System) ||
		in.Role != "" && !slices.Contains(catalog.Roles(), in.Role) {
		return answer{}, fmt.Errorf("os %q, role %q: one of them is unknown", in.OS, in.Role)
	}
	if in.Release != "" {
		v, err := catalog.ParseVersion(in.Release)
		if err != nil || opt.System == "" {
			return answer{}, fmt.Errorf("release %q: a release is expected, with its os", in.Release)
		}
		opt.Version = v
	}
	res := lint.Run(s.Catalog, []lint.Input{{Path: in.Name, Text: in.Text}}, opt)
	if len(res.Errors) > 0 {
		return answer{}, res.Errors[0]
	}
	data, err := json.Marshal(res.JSON())
	return answer{document: data}, err
}

type explainIn struct {
	Name    string `json:"name" jsonschema:"a setting, a lint code or a rule, such as net.ipv4.tcp_rmem"`
	OS      string `json:"os,omitempty" jsonschema:"freebsd, openbsd or linux"`
	Release string `json:"release,omitempty" jsonschema:"release of the system, such as 14.3"`
}

func (s *Server) explain(ctx context.Context, in explainIn) (answer, error) {
	f := newFlags("explain")
	f.set("os", in.OS, word)
	f.set("version", in.Release, word)
	return s.run(ctx, f.line(in.Name))
}

type planIn struct {
	Path        string `json:"path" jsonschema:"the path, such as rate=10gbit,rtt=50ms,loss=0.01%"`
	Role        string `json:"role" jsonschema:"bulk, web, file, router, dns, latency or home"`
	Host        string `json:"host,omitempty" jsonschema:"host to plan for; the server's first one when this and os are empty"`
	OS          string `json:"os,omitempty" jsonschema:"plan for a described machine of this system instead of a host"`
	Release     string `json:"release,omitempty" jsonschema:"its release"`
	Memory      string `json:"memory,omitempty" jsonschema:"its memory, such as 64GiB"`
	Cores       int    `json:"cores,omitempty" jsonschema:"its processors"`
	NIC         string `json:"nic,omitempty" jsonschema:"the driver of its network card, such as ix"`
	Connections int    `json:"connections,omitempty" jsonschema:"connections open at once"`
	Harden      bool   `json:"harden,omitempty" jsonschema:"add settings whose purpose is security"`
}

// plan makes a plan and keeps it under a name that apply takes.
func (s *Server) plan(ctx context.Context, in planIn) (answer, error) {
	f := newFlags("plan")
	f.set("path", in.Path, pathForm)
	f.set("role", in.Role, word)
	f.set("os", in.OS, word)
	f.set("version", in.Release, word)
	f.set("memory", in.Memory, word)
	f.set("nic", in.NIC, word)
	for flag, n := range map[string]int{"cores": in.Cores, "connections": in.Connections} {
		if n != 0 {
			f.args = append(f.args, "--"+flag+"="+strconv.Itoa(n))
		}
	}
	if in.Harden {
		f.args = append(f.args, "--harden")
	}
	var hosts []string
	if in.OS == "" {
		host, err := s.host(in.Host)
		if err != nil {
			return answer{}, err
		}
		hosts = append(hosts, host)
	}
	a, err := s.run(ctx, f.line(hosts...))
	if err != nil {
		return a, err
	}
	s.mu.Lock()
	s.plans++
	name := fmt.Sprintf("plan-%d", s.plans)
	s.mu.Unlock()
	if err := os.WriteFile(s.planFile(name), a.document, 0o600); err != nil {
		return answer{}, err
	}
	a.notes += "\nthis plan is " + name
	return a, nil
}

func (s *Server) planFile(name string) string { return filepath.Join(s.dir, name+".json") }

type calcIn struct {
	Formula string   `json:"formula" jsonschema:"its name, such as bdp"`
	Inputs  []string `json:"inputs" jsonschema:"each as name=value, such as rate=10gbit"`
}

func (s *Server) calc(ctx context.Context, in calcIn) (answer, error) {
	if !word.MatchString(in.Formula) {
		return answer{}, fmt.Errorf("formula %.80q: no such name", in.Formula)
	}
	for _, i := range in.Inputs {
		if !given.MatchString(i) {
			return answer{}, fmt.Errorf("%.80q: name=value is expected", i)
		}
	}
	return s.run(ctx, newFlags("calc").line(append([]string{in.Formula}, in.Inputs...)...))
}

type weblogIn struct {
	Files   []string `json:"files" jsonschema:"access logs below the server's folders"`
	Against []string `json:"against,omitempty" jsonschema:"logs of before"`
}

func (s *Server) weblog(ctx context.Context, in weblogIn) (answer, error) {
	if len(in.Files) == 0 {
		return answer{}, fmt.Errorf("no file given")
	}
	f := newFlags("weblog")
	for i, name := range slices.Concat(in.Files, in.Against) {
		file, err := s.inRoots(name)
		if err != nil {
			return answer{}, err
		}
		if i == len(in.Files) {
			f.args = append(f.args, "--against")
		}
		f.args = append(f.args, file) // absolute: nothing takes it for a flag
	}
	return s.run(ctx, f)
}

type reportIn struct {
	ID string `json:"id" jsonschema:"of a past experiment, or last"`
}

func (s *Server) report(ctx context.Context, in reportIn) (answer, error) {
	if !runID.MatchString(in.ID) {
		return answer{}, fmt.Errorf("id %.80q: last, or an ID such as 20260101-120000-ab12 is expected", in.ID)
	}
	return s.run(ctx, newFlags("report").line(in.ID))
}
