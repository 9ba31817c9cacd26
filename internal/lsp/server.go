// Package lsp is a language server, LSP 3.17, for the configuration files that
// lint reads. It shows what lint finds as one types, tells what settings do,
// completes their names and values, and corrects.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
)

// Settings are what an editor's workspace may say, by these names, in the
// section "wirerate" or as the initialization options.
type Settings struct {
	OS      string   `json:"os"`
	Release string   `json:"release"`
	Role    string   `json:"role"`
	Driver  string   `json:"driver"`
	Memory  string   `json:"memory"`
	Cores   int      `json:"cores"`
	Ignore  []string `json:"ignore"`
	Level   string   `json:"level"` // lightest severity that is shown
	Host    string   `json:"host"`  // host or capture that the files are for
}

// Config is what a server needs of the program around it.
type Config struct {
	Catalog *catalog.Catalog
	Version string
	// Options says what a file is judged for, and the lightest severity that is
	// shown; path is empty for one that is on no disk.
	Options func(path string, s Settings) (lint.Options, lint.Severity, error)
	// Host completes options by what a host or capture tells.
	Host func(ctx context.Context, name string, opt *lint.Options) error
}

// Server is the state of one session. Its methods are called with mu held.
type Server struct {
	Config

	mu       sync.Mutex
	conn     *jsonrpc2.Conn
	client   initializeParams
	ready    bool // after initialize
	ended    bool // after shutdown
	encoding string
	settings Settings
	docs     map[string]*document // by URI
	disk     disk
	hosts    map[string]*hostAnswer
	told     map[string]bool // what the user was told once
	wake     chan struct{}
}

// document is an open file.
type document struct {
	uri     string
	path    string
	local   bool // path is a file of this machine
	version int
	text    *text
	shown   bool // its diagnostics are those of this text

	// What it was last judged with, and the answer.
	inputs []lint.Input
	opt    lint.Options
	result *lint.Result
	level  lint.Severity
}

// hostAnswer is what a host told, once it has.
type hostAnswer struct {
	opt  lint.Options
	err  error
	done bool
}

// Serve answers one client until it leaves.
func Serve(ctx context.Context, rw io.ReadWriteCloser, c Config) error {
	outer := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &Server{Config: c, encoding: encodingUTF16, docs: map[string]*document{}, disk: disk{map[string]diskFile{}},
		hosts: map[string]*hostAnswer{}, told: map[string]bool{}, wake: make(chan struct{}, 1)}
	gone := make(chan struct{})
	s.mu.Lock()
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(rw, codec{}), jsonrpc2.HandlerWithError(s.handle),
		jsonrpc2.SetLogger(silent{}))
	s.mu.Unlock()
	go func() {
		defer close(gone)
		s.show(ctx)
	}()
	select {
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
		s.conn.Close()
	}
	stop()
	<-gone
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready && !s.ended && outer.Err() == nil {
		return errors.New("the editor left without ending the session")
	}
	return nil
}

// silent keeps the library's notes off the terminal: editors show standard error
// as a failure.
type silent struct{}

func (silent) Printf(string, ...any) {}

// handle answers one message.
func (s *Server) handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case req.Method == "initialize":
		return answer(req, s.initialize)
	case req.Method == "exit":
		return nil, s.conn.Close()
	case !s.ready && req.Notif:
		return nil, nil
	case !s.ready:
		return nil, &jsonrpc2.Error{Code: notInitialized, Message: "initialize comes first"}
	case s.ended && !req.Notif:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the session has ended"}
	}
	switch req.Method {
	case "shutdown":
		s.ended = true
		return nil, nil
	case "initialized":
		go s.pullSettings(ctx)
		return nil, nil
	case "workspace/didChangeConfiguration":
		return answer(req, func(p configurationParams) (any, error) { return nil, s.configured(ctx, p) })
	case "workspace/didChangeWatchedFiles":
		s.changed()
		return nil, nil
	case "textDocument/didOpen":
		return answer(req, s.opened)
	case "textDocument/didChange":
		return answer(req, s.edited)
	case "textDocument/didClose":
		return answer(req, s.closed)
	case "textDocument/didSave":
		s.changed()
		return nil, nil
	case "textDocument/hover":
		return answer(req, s.hover)
	case "textDocument/completion":
		return answer(req, s.complete)
	case "completionItem/resolve":
		return answer(req, s.resolve)
	case "textDocument/codeAction":
		return answer(req, s.actions)
	case "textDocument/documentSymbol":
		return answer(req, s.symbols)
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "wirerate does not know " + req.Method}
}

// answer decodes a request's parameters for the function that answers it.
func answer[P any](req *jsonrpc2.Request, f func(P) (any, error)) (any, error) {
	var params P
	if req.Params == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: req.Method + ": parameters are missing"}
	}
	if err := json.Unmarshal(*req.Params, &params); err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", req.Method, err)}
	}
	return f(params)
}

func (s *Server) initialize(p initializeParams) (any, error) {
	if s.ready {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "initialize comes once"}
	}
	s.client, s.ready = p, true
	for _, encoding := range p.Capabilities.General.PositionEncodings {
		if slices.Contains([]string{encodingUTF8, encodingUTF16, encodingUTF32}, encoding) {
			s.encoding = encoding // the client's first choice that is known
			break
		}
	}
	if len(p.InitializationOptions) > 0 {
		if err := json.Unmarshal(p.InitializationOptions, &s.settings); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("initializationOptions: %v", err)}
		}
	}
	return map[string]any{
		"serverInfo": map[string]string{"name": "wirerate", "version": s.Version},
		"capabilities": map[string]any{
			"positionEncoding":       s.encoding,
			"textDocumentSync":       map[string]any{"openClose": true, "change": syncIncremental, "save": true},
			"hoverProvider":          true,
			"completionProvider":     map[string]any{"resolveProvider": true, "triggerCharacters": []string{".", "=", "_", "/"}},
			"codeActionProvider":     map[string]any{"codeActionKinds": []string{actionQuickFix, actionFixAllOurs}},
			"documentSymbolProvider": true,
		},
	}, nil
}

type configurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// configured takes settings that are pushed; a client that can be asked is asked.
func (s *Server) configured(ctx context.Context, p configurationParams) error {
	if s.client.Capabilities.Workspace.Configuration {
		go s.pullSettings(ctx)
		return nil
	}
	var section struct {
		Wirerate json.RawMessage `json:"wirerate"`
	}
	if err := json.Unmarshal(p.Settings, &section); err != nil || section.Wirerate == nil {
		return nil // the settings of another server
	}
	s.take(section.Wirerate)
	return nil
}

// pullSettings asks the client for the workspace's settings.
func (s *Server) pullSettings(ctx context.Context) {
	s.mu.Lock()
	asks := s.client.Capabilities.Workspace.Configuration
	s.mu.Unlock()
	if !asks {
		return
	}
	var sections []json.RawMessage
	params := map[string]any{"items": []map[string]string{{"section": "wirerate"}}}
	if err := s.conn.Call(ctx, "workspace/configuration", params, &sections); err != nil || len(sections) != 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if string(sections[0]) != "null" {
		s.take(sections[0])
	}
}

// take replaces the settings.
func (s *Server) take(section json.RawMessage) {
	var settings Settings
	if err := json.Unmarshal(section, &settings); err != nil {
		s.tell(fmt.Sprintf("the settings of wirerate: %v", err))
		return
	}
	s.settings = settings
	clear(s.hosts)
	s.changed()
}

func (s *Server) opened(p documentParams) (any, error) {
	item := p.TextDocument
	path, local := pathOf(item.URI)
	s.docs[item.URI] = &document{uri: item.URI, path: path, local: local, version: item.Version,
		text: newText(item.Text, s.encoding)}
	s.changed()
	return nil, nil
}

func (s *Server) edited(p changeParams) (any, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	for _, c := range p.ContentChanges {
		src := d.text.apply(c)
		if len(src) > conffile.MaxSize {
			return nil, nil // lint does not read such a file either
		}
		d.text = newText(src, s.encoding)
	}
	d.version = p.TextDocument.Version
	s.changed()
	return nil, nil
}

func (s *Server) closed(p documentParams) (any, error) {
	if s.docs[p.TextDocument.URI] == nil {
		return nil, nil
	}
	delete(s.docs, p.TextDocument.URI)
	s.changed()
	return nil, s.conn.Notify(context.Background(), "textDocument/publishDiagnostics",
		publishParams{URI: p.TextDocument.URI, Diagnostics: []diagnostic{}})
}

// byPath finds an open file.
func (s *Server) byPath(path string) *document {
	for _, d := range s.docs {
		if d.local && d.path == path {
			return d
		}
	}
	return nil
}

// changed has the diagnostics made anew, once for all changes that come
// meanwhile.
func (s *Server) changed() {
	for _, d := range s.docs {
		d.shown = false
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tell shows a message to the user, once.
func (s *Server) tell(message string) {
	if s.told[message] {
		return
	}
	s.told[message] = true
	// The session ends when nothing can be written: nobody is left to be told.
	_ = s.conn.Notify(context.Background(), "window/showMessage",
		map[string]any{"type": messageWarning, "message": "wirerate: " + message})
}
