// Package mcp serves agents over the Model Context Protocol: the verbs that read
// as tools, and when it is allowed those that change a host, always under the
// journal and its timer.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/report"
)

// Config is what a server may do.
type Config struct {
	Catalog *catalog.Catalog
	Version string
	// Roots are the folders whose files may be read; Hosts those that may be
	// asked, and changed when Apply is set.
	Roots, Hosts []string
	Apply        bool
	// RuntimeOnly has confirm write no configuration files.
	RuntimeOnly bool
	// Run runs one command line of wirerate: what it printed, what it said, and
	// its exit status.
	Run func(ctx context.Context, args []string) (out, notes string, status int)
	// Log takes a line for each call.
	Log *slog.Logger
}

// Server is one session.
type Server struct {
	Config
	roots []string // without symbolic links
	dir   string   // of the plans, its own

	mu      sync.Mutex
	plans   int
	changes map[string]string // those that this session applied: host by ID
}

// logged bounds what is logged of a call's arguments, in bytes.
const logged = 2 << 10

// New makes a server. Its folder is removed by Close.
func New(c Config) (*Server, error) {
	s := &Server{Config: c, changes: map[string]string{}}
	for _, root := range c.Roots {
		full, err := filepath.Abs(root)
		if err == nil {
			full, err = filepath.EvalSymlinks(full)
		}
		if err != nil {
			return nil, err
		}
		s.roots = append(s.roots, full)
	}
	dir, err := os.MkdirTemp("", "wirerate-mcp-")
	s.dir = dir
	return s, err
}

// Close removes the plans of the session.
func (s *Server) Close() error { return os.RemoveAll(s.dir) }

// Serve answers one client until it leaves.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.server().Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}

// server registers what there is.
func (s *Server) server() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "wirerate", Version: s.Version},
		&sdk.ServerOptions{Instructions: instructions})
	server.AddReceivingMiddleware(s.log)
	add(server, "inspect", "What limits the network of a host, or of a capture: facts, ceilings, findings", s.inspect)
	add(server, "lint", "Dead, misplaced and harmful lines of configuration files, with corrections", s.lint)
	add(server, "explain", "What a setting, a lint code or a rule means: default by release, evidence, sources", s.explain)
	add(server, "plan", "Settings for a path, a role and a machine, each with its reason; nothing is changed", s.plan)
	add(server, "calc", "One formula: bdp, window, wscale, mss, bus, queue, backlog, loss and others", s.calc)
	add(server, "weblog", "Response times of access logs, compared with those of before", s.weblog)
	add(server, "report", "The result of a past experiment", s.report)
	if s.Apply {
		change(server, "apply", "Put a plan of this session in place until its time is over, or it is "+
			"confirmed by a later call", s.apply)
		change(server, "confirm", "Make a change of this session last; only after its effect was looked at", s.confirm)
		change(server, "rollback", "Take a change back", s.rollback)
		change(server, "status", "The changes of a host: pending, confirmed, taken back", s.status)
		change(server, "trial", "Compare arms by experiment in namespaces of this machine, over an emulated link", s.trial)
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "setting", MIMEType: "text/markdown",
		URITemplate: "wirerate://settings/{os}/{+name}", Description: "A setting of freebsd, openbsd or linux"},
		s.settingResource)
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "problem", MIMEType: "text/markdown",
		URITemplate: "wirerate://problems/{code}", Description: "A code of lint"}, problemResource)
	return server
}

const instructions = `wirerate inspects, explains and tunes the network settings of FreeBSD, OpenBSD and Linux hosts. ` +
	`Plan first; apply takes the name of a plan. A change is taken back by a timer on the host unless confirm is called: ` +
	`look at status and inspect before that.`

// add registers a tool that changes nothing.
func add[In any](server *sdk.Server, name, description string, f func(context.Context, In) (answer, error)) {
	register(server, &sdk.Tool{Name: name, Description: description,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, f)
}

// change registers a tool that changes a host.
func change[In any](server *sdk.Server, name, description string, f func(context.Context, In) (answer, error)) {
	register(server, &sdk.Tool{Name: name, Description: description, Annotations: &sdk.ToolAnnotations{}}, f)
}

// answer is what a tool gives: a JSON document, and what was said beside it.
type answer struct {
	document json.RawMessage
	notes    string
}

func register[In any](server *sdk.Server, tool *sdk.Tool, f func(context.Context, In) (answer, error)) {
	sdk.AddTool(server, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		a, err := f(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		result := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(a.document)}}}
		if a.notes != "" {
			result.Content = append(result.Content, &sdk.TextContent{Text: a.notes})
		}
		return result, a.document, nil
	})
}

// log writes a line for each call of a tool: before it, so that one that never
// ends is there, and after it.
func (s *Server) log(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		params, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok {
			return next(ctx, method, req)
		}
		arguments := string(params.Arguments[:min(len(params.Arguments), logged)])
		s.Log.Info("call", "tool", params.Name, "arguments", arguments)
		start := time.Now()
		result, err := next(ctx, method, req)
		r, _ := result.(*sdk.CallToolResult)
		s.Log.Info("answer", "tool", params.Name, "seconds", time.Since(start).Seconds(), "failed",
			err != nil || r == nil || r.IsError)
		return result, err
	}
}

// run runs a verb, if its flags have the right forms, and returns the document that it printed.
func (s *Server) run(ctx context.Context, f *flags) (answer, error) {
	if f.err != nil {
		return answer{}, f.err
	}
	out, notes, status := s.Run(ctx, f.args)
	notes = strings.TrimSpace(notes)
	if status > 1 || !json.Valid([]byte(out)) {
		return answer{}, errors.New(strings.TrimSpace(notes + "\n" + out))
	}
	return answer{json.RawMessage(out), notes}, nil
}

// inRoots returns the path of a file or folder that may be read, without
// symbolic links; of a folder, nothing in it leads out.
func (s *Server) inRoots(name string) (string, error) {
	refused := fmt.Errorf("%q is not below the folders that may be read: %s", name, strings.Join(s.roots, ", "))
	if name == "" || strings.ContainsRune(name, 0) {
		return "", refused
	}
	if !filepath.IsAbs(name) && len(s.roots) > 0 {
		name = filepath.Join(s.roots[0], name)
	}
	inside := func(path string) (string, bool) {
		full, err := filepath.EvalSymlinks(path)
		return full, err == nil && slices.ContainsFunc(s.roots, func(root string) bool {
			rel, err := filepath.Rel(root, full)
			return err == nil && filepath.IsLocal(rel)
		})
	}
	full, ok := inside(name)
	if !ok {
		return "", refused
	}
	info, err := os.Stat(full)
	switch {
	case err != nil || info.Mode().IsRegular():
		return full, err
	case !info.IsDir(): // a FIFO or a device is read without end
		return "", fmt.Errorf("%q is neither a file nor a folder", name)
	}
	return full, input.Walk(os.DirFS(full), folderEntries, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			if _, ok := inside(filepath.Join(full, path)); !ok {
				return fmt.Errorf("%q in %q leads out of the folders that may be read", path, name)
			}
		}
		return err
	})
}

// folderEntries bounds the files of a folder that is read.
const folderEntries = 20_000

// host returns a host that may be asked.
func (s *Server) host(name string) (string, error) {
	if name == "" && len(s.Hosts) > 0 {
		return s.Hosts[0], nil
	}
	if !slices.Contains(s.Hosts, name) {
		return "", fmt.Errorf("host %q may not be asked; wirerate mcp was started for: %s", name, strings.Join(s.Hosts, ", "))
	}
	return name, nil
}

func (s *Server) settingResource(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	system, name, _ := strings.Cut(strings.TrimPrefix(uri, "wirerate://settings/"), "/")
	r, ok := s.Catalog.Lookup(catalog.System(system), name)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	return markdown(uri, report.SettingMarkdown(r, "")), nil
}

func problemResource(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	code, ok := lint.FindCode(strings.TrimPrefix(uri, "wirerate://problems/"))
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	return markdown(uri, "# "+code.ID+"\n\n"+code.Title+"\n\n"+code.Explanation+"\n"), nil
}

func markdown(uri, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/markdown", Text: text}}}
}
