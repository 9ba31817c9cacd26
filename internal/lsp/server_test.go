package lsp

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lint"
)

// client is an editor.
type client struct {
	t    testing.TB
	conn *jsonrpc2.Conn
	// settings are what it answers when asked.
	settings any
	shown    chan publishParams
	passed   []publishParams // shown, and not asked for yet
	told     chan string
	served   chan error
}

func loadCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plainOptions take settings at their word.
func plainOptions(_ string, s Settings) (lint.Options, lint.Severity, error) {
	return lint.Options{System: catalog.System(s.OS), Version: catalog.Version(s.Release), Role: s.Role, Ignore: s.Ignore}, lint.Info, nil
}

// dial starts a server and a client of it.
func dial(t testing.TB, config Config, capabilities, options string) *client {
	t.Helper()
	here, there := net.Pipe()
	c := &client{t: t, shown: make(chan publishParams, 1000), told: make(chan string, 10), served: make(chan error, 1)}
	go func() { c.served <- Serve(context.Background(), there, config) }()
	handler := func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		switch req.Method {
		case "textDocument/publishDiagnostics":
			var p publishParams
			if err := json.Unmarshal(*req.Params, &p); err != nil {
				return nil, err
			}
			c.shown <- p
		case "window/showMessage":
			c.told <- string(*req.Params)
		case "workspace/configuration":
			return []any{c.settings}, nil
		}
		return nil, nil
	}
	c.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, codec{}), jsonrpc2.HandlerWithError(handler),
		jsonrpc2.SetLogger(silent{}))
	t.Cleanup(func() { c.conn.Close() })
	params := `{"capabilities":` + capabilities + `}`
	if options != "" {
		params = `{"capabilities":` + capabilities + `,"initializationOptions":` + options + `}`
	}
	c.call("initialize", json.RawMessage(params), nil)
	c.notify("initialized", map[string]any{})
	return c
}

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if err := c.conn.Call(context.Background(), method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// open opens a document and returns its first diagnostics.
func (c *client) open(uri, src string) publishParams {
	c.t.Helper()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": documentItem{URI: uri, Version: 1, Text: src}})
	return c.next(uri, 1)
}

// next waits for the diagnostics of a version of a document.
func (c *client) next(uri string, version int) publishParams {
	c.t.Helper()
	for i, p := range c.passed {
		if p.URI == uri && p.Version == version {
			c.passed = slices.Delete(c.passed, i, i+1)
			return p
		}
	}
	for {
		select {
		case p := <-c.shown:
			if p.URI == uri && p.Version == version {
				return p
			}
			c.passed = append(c.passed, p)
		case <-time.After(time.Minute):
			c.t.Fatalf("no diagnostics of %s, version %d", uri, version)
		}
	}
}

func codes(p publishParams) string {
	var out []string
	for _, d := range p.Diagnostics {
		out = append(out, d.Code)
	}
	return strings.Join(out, " ")
}

func at(uri string, line, character int) map[string]any {
	return map[string]any{"textDocument": map[string]string{"uri": uri}, "position": position{line, character}}
}

func actionsAt(uri string, line int, only ...string) map[string]any {
	return map[string]any{"textDocument": map[string]string{"uri": uri}, "range": textRange{position{line, 0}, position{line, 1}},
		"context": map[string]any{"diagnostics": []any{}, "only": only}}
}

const linux = `{"os":"linux","release":"6.12"}`

// TestSession goes through what an editor does with one file.
func TestSession(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", linux)
	uri := "untitled:sysctl.conf"
	shown := c.open(uri, "# caf\u00e9 \U0001F600\nnet.ipv4.tcp_rmem = 4096 87380 x\nnet.ipv4.tcp_tw_recycle = 1\n")
	if got := codes(shown); got != "bad-value removed" {
		t.Fatalf("problems: %s", got)
	}
	if r := shown.Diagnostics[0].Range; r.Start.Line != 1 || r.End.Line != 1 || r.End.Character <= r.Start.Character {
		t.Errorf("range %+v", r)
	}
	// an edit behind characters of several units
	c.notify("textDocument/didChange", map[string]any{"textDocument": documentItem{URI: uri, Version: 2},
		"contentChanges": []contentChange{
			{Range: &textRange{position{1, 31}, position{1, 32}}, Text: "6291456"},
			{Range: &textRange{position{0, 7}, position{0, 9}}, Text: "!"},
		}})
	if got := codes(c.next(uri, 2)); strings.Contains(got, "bad-value") {
		t.Errorf("after the edit: %s", got)
	}
	var h hover
	c.call("textDocument/hover", at(uri, 1, 8), &h)
	for _, want := range []string{"tcp\\_rmem", "default", "evidence", "Sources"} {
		if !strings.Contains(h.Contents.Value, want) {
			t.Errorf("hover lacks %q:\n%s", want, h.Contents.Value)
		}
	}
	var none *hover
	if c.call("textDocument/hover", at(uri, 0, 1), &none); none != nil {
		t.Errorf("a hover of nothing: %+v", none)
	}
	var symbols []symbol
	c.call("textDocument/documentSymbol", at(uri, 0, 0), &symbols)
	if len(symbols) != 2 || symbols[0].Name != "net.ipv4.tcp_rmem" {
		t.Errorf("symbols: %+v", symbols)
	}
	c.notify("textDocument/didClose", at(uri, 0, 0))
	if p := c.next(uri, 0); len(p.Diagnostics) != 0 {
		t.Errorf("problems of a closed file: %+v", p)
	}
	c.call("shutdown", nil, nil)
	c.notify("exit", nil)
	if err := <-c.served; err != nil {
		t.Errorf("served: %v", err)
	}
}

func TestEndWithoutShutdown(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", "")
	c.conn.Close()
	if err := <-c.served; err == nil {
		t.Error("no error of an editor that is gone")
	}
}

func TestComplete(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", "")
	for _, tt := range []struct{ name, src, has, hasNot string }{
		{"sysctl.conf", "net.core.somaxconn = 1\nnet.ipv4.tcp_rm", "net.ipv4.tcp_rmem", "net.inet.tcp.rexmit_min"},
		{"sysctl.conf", "net.core.somaxconn = 1\nnet.ipv4.tcp_congestion_control = ", "bbr", ""},
		{"sysctl.conf", "net.core.somaxconn = 1\nnet.ipv4.tcp_tw_rec", "", "net.ipv4.tcp_tw_recycle"},
		{"sysctl.conf", "net.core.somaxconn = 1\nnet.ipv4.conf.", "net.ipv4.conf.*.rp_filter", ""},
		{"loader.conf", "hw.ibrs_disable=\"1\"\nnet.isr.max", "net.isr.maxthreads", "net.inet.tcp.rexmit_min"},
		{"rc.conf", "sshd_enable=\"YES\"\nhostname=\"a\"\ngateway_en", "gateway_enable", ""},
		{"10-a.link", "[Match]\nOriginalName=*\n[Link]\nRxBuf", "", "net.core.rmem_max"},
		{"sysctl.conf", "net.core.somaxconn = 1\n# net.ipv4.tcp_rm", "", "net.ipv4.tcp_rmem"},
	} {
		uri := "untitled:" + tt.name
		c.open(uri, tt.src)
		lines := strings.Split(tt.src, "\n")
		var list completionList
		c.call("textDocument/completion", at(uri, len(lines)-1, len(lines[len(lines)-1])), &list)
		labels := make([]string, len(list.Items))
		for i, item := range list.Items {
			labels[i] = item.Label
		}
		if tt.has != "" && !slices.Contains(labels, tt.has) {
			t.Errorf("%s %q: %s is not in %.300q", tt.name, tt.src, tt.has, labels)
		}
		if tt.hasNot != "" && slices.Contains(labels, tt.hasNot) {
			t.Errorf("%s %q: %s is proposed", tt.name, tt.src, tt.hasNot)
		}
		c.notify("textDocument/didClose", at(uri, 0, 0))
	}
	var item completionItem
	c.call("completionItem/resolve", completionItem{Label: "net.ipv4.tcp_rmem", Data: "linux"}, &item)
	if item.Documentation == nil || !strings.Contains(item.Documentation.Value, "Sources") {
		t.Errorf("resolved: %+v", item)
	}
}

// folder writes files, by name and text, and returns the URI of one of them.
func folder(t testing.TB, dir, name string, files map[string]string) string {
	t.Helper()
	for name, src := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return uriOf(filepath.Join(dir, name))
}

// TestFolder holds that lines act together over files, on disk or open.
func TestFolder(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", linux)
	dir := t.TempDir()
	const one, other = "net.ipv4.tcp_mtu_probing = 1\n", "net.ipv4.tcp_mtu_probing = 2\n"
	uri := folder(t, dir, "etc/sysctl.d/10-a.conf", map[string]string{"etc/sysctl.d/10-a.conf": one, "etc/sysctl.d/20-b.conf": other})
	if got := codes(c.open(uri, one)); !strings.Contains(got, "overridden") {
		t.Errorf("beside a file on disk: %q", got)
	}
	second := uriOf(filepath.Join(dir, "etc/sysctl.d/20-b.conf"))
	c.open(second, "# nothing\n")
	if got := codes(c.next(uri, 1)); strings.Contains(got, "overridden") {
		t.Errorf("beside the same file as it is in the editor: %q", got)
	}
}

// TestActions applies what is offered and judges the file again.
func TestActions(t *testing.T) {
	create := `{"workspace":{"workspaceEdit":{"documentChanges":true,"resourceOperations":["create"]}}}`
	freebsd := `{"os":"freebsd","release":"14.2"}`
	for _, tt := range []struct {
		name, settings, capabilities, file, src, code, title string
		others                                               map[string]string
	}{
		{"a comment", linux, "{}", "sysctl.conf", "net.ipv4.tcp_tw_recycle = 1\n", "removed", "disable removed", nil},
		{"CRLF", linux, "{}", "sysctl.conf", "# x\r\nnet.ipv4.tcp_tw_recycle = 1\r\n", "removed", "disable removed", nil},
		{"commented out", linux, "{}", "sysctl.conf", "net.ipv4.tcp_tw_recycle = 1\nnet.core.somaxconn = 9999", "removed", "comment the line out", nil},
		{"moved to a new file", freebsd, create, "etc/sysctl.conf", "net.isr.maxthreads=4\n", "wrong-file", "move it to /boot/loader.conf", nil},
		{"moved to another file", freebsd, "{}", "etc/sysctl.conf", "net.isr.maxthreads=4\n", "wrong-file", "move it to /boot/loader.conf",
			map[string]string{"boot/loader.conf": "# here\n"}},
		{"nowhere to move", freebsd, "{}", "etc/sysctl.conf", "net.isr.maxthreads=4\n", "wrong-file", "comment the line out; add to /boot/loader.conf", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, tt.capabilities, tt.settings)
			dir := t.TempDir()
			files := map[string]string{tt.file: tt.src}
			for name, src := range tt.others {
				files[name] = src
			}
			uri := folder(t, dir, tt.file, files)
			shown := c.open(uri, tt.src)
			line := -1
			for _, d := range shown.Diagnostics {
				if d.Code == tt.code {
					line = d.Range.Start.Line
				}
			}
			if line < 0 {
				t.Fatalf("no %s: %s", tt.code, codes(shown))
			}
			var actions []codeAction
			c.call("textDocument/codeAction", actionsAt(uri, line, "quickfix"), &actions)
			i := slices.IndexFunc(actions, func(a codeAction) bool { return strings.HasPrefix(a.Title, tt.title) })
			if i < 0 {
				t.Fatalf("%q is not offered: %+v", tt.title, actions)
			}
			got := carryOut(t, dir, files, actions[i].Edit)
			c.notify("textDocument/didChange", map[string]any{"textDocument": documentItem{URI: uri, Version: 2},
				"contentChanges": []contentChange{{Text: got[tt.file]}}})
			if left := codes(c.next(uri, 2)); strings.Contains(left, tt.code) {
				t.Errorf("%s is left:\n%s", left, got[tt.file])
			}
			if strings.HasPrefix(tt.title, "move") && !strings.Contains(got["boot/loader.conf"], "net.isr.maxthreads=\"4\"\n") {
				t.Errorf("loader.conf: %q", got["boot/loader.conf"])
			}
		})
	}
}

// TestFixAll holds that all corrections of a file leave its neighbours alone.
func TestFixAll(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", linux)
	dir := t.TempDir()
	files := map[string]string{"etc/sysctl.d/1.conf": "net.ipv4.tcp_tw_recycle = 1\nnet.ipv4.tcp_fack = 1\n", "etc/sysctl.d/2.conf": "net.ipv4.tcp_tw_recycle = 1\n"}
	uri := folder(t, dir, "etc/sysctl.d/1.conf", files)
	c.open(uri, files["etc/sysctl.d/1.conf"])
	var actions []codeAction
	c.call("textDocument/codeAction", actionsAt(uri, 0, "source.fixAll"), &actions)
	if len(actions) != 1 || len(actions[0].Edit.Changes) != 1 {
		t.Fatalf("%+v", actions)
	}
	got := carryOut(t, dir, files, actions[0].Edit)["etc/sysctl.d/1.conf"]
	c.notify("textDocument/didChange", map[string]any{"textDocument": documentItem{URI: uri, Version: 2}, "contentChanges": []contentChange{{Text: got}}})
	if left := codes(c.next(uri, 2)); left != "" {
		t.Errorf("%s is left:\n%s", left, got)
	}
}

// carryOut makes an edit, as an editor does, and returns the files of a folder.
func carryOut(t *testing.T, dir string, files map[string]string, edit workspaceEdit) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, src := range files {
		out[name] = src
	}
	change := func(uri string, edits []textEdit) {
		path, _ := pathOf(uri)
		name, err := filepath.Rel(dir, path)
		if err != nil || len(edits) != 1 {
			t.Fatalf("%s: %v %v", uri, edits, err)
		}
		text := newText(out[name], encodingUTF16)
		out[name] = text.apply(contentChange{&edits[0].Range, edits[0].NewText})
	}
	for uri, edits := range edit.Changes {
		change(uri, edits)
	}
	for _, c := range edit.DocumentChanges {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var e documentEdit
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Edits) > 0 {
			change(e.TextDocument.URI, e.Edits)
		}
	}
	return out
}

// TestSettings holds that a client's settings count, asked for or pushed.
func TestSettings(t *testing.T) {
	const src = "net.ipv4.tcp_tw_recycle = 1\n"
	uri := "untitled:sysctl.conf"
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", linux)
	if got := codes(c.open(uri, src)); got != "removed" {
		t.Errorf("%q", got)
	}
	c.notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"wirerate": Settings{Ignore: []string{"removed"}}}})
	if got := codes(c.next(uri, 1)); got != "" {
		t.Errorf("ignored: %q", got)
	}
	asked := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, `{"workspace":{"configuration":true}}`, "")
	asked.settings = Settings{Ignore: []string{"removed"}}
	asked.open(uri, src)
	asked.notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
	for codes(asked.next(uri, 1)) != "" { // those of before the answer
	}
}

// TestHost holds that a host is asked once and what it tells counts.
func TestHost(t *testing.T) {
	var asked sync.Map
	host := func(_ context.Context, name string, opt *lint.Options) error {
		if _, again := asked.LoadOrStore(name, true); again {
			t.Errorf("%s is asked twice", name)
		}
		opt.System, opt.Version = catalog.Linux, "4.9"
		return nil
	}
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions, Host: host}, "{}", `{"host":"ssh://a"}`)
	uri := "untitled:sysctl.conf"
	c.open(uri, "net.ipv4.tcp_tw_recycle = 1\n")
	c.notify("textDocument/didSave", at(uri, 0, 0))
	for p := c.next(uri, 1); strings.Contains(codes(p), "removed"); { // it is there in Linux 4.9
		p = c.next(uri, 1)
	}
}

// TestProtocol holds that what is no request is answered with an error, and the
// session goes on.
func TestProtocol(t *testing.T) {
	c := dial(t, Config{Catalog: loadCatalog(t), Options: plainOptions}, "{}", "")
	for method, code := range map[string]int64{"no/such": jsonrpc2.CodeMethodNotFound, "initialize": jsonrpc2.CodeInvalidRequest} {
		var e *jsonrpc2.Error
		err := c.conn.Call(context.Background(), method, map[string]any{}, nil)
		if e, _ = err.(*jsonrpc2.Error); e == nil || e.Code != code {
			t.Errorf("%s: %v", method, err)
		}
	}
	if err := c.conn.Call(context.Background(), "textDocument/hover", []int{1}, nil); err == nil {
		t.Error("a list as parameters is taken")
	}
	var h *hover
	c.call("textDocument/hover", at("file:///not/open", 9, 9), &h)
}

// TestFraming holds the bounds of the base protocol.
func TestFraming(t *testing.T) {
	for _, in := range []string{"Content-Length: 99999999999\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "\r\n\r\n{}",
		"X: " + strings.Repeat("a", 1<<20), "Content-Length: 10\r\n\r\n{}", "Content-Length: 2\r\n\r\n{]"} {
		here, there := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(context.Background(), there, Config{Options: plainOptions}) }()
		go func() {
			_, _ = io.WriteString(here, in) // the server may leave before all is written
			here.Close()
		}()
		if err := <-done; err != nil {
			t.Errorf("%.40q: %v", in, err)
		}
	}
}
