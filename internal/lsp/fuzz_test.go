package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/catalog"
)

// FuzzSession opens a document, changes it and asks everything about it, at any
// place. Each request is answered, and no range lies outside of the text.
func FuzzSession(f *testing.F) {
	for _, s := range []struct{ name, src, insert string }{
		{"sysctl.conf", "net.ipv4.tcp_rmem = 4096 x\nnet.ipv4.tcp_tw_recycle=1\n", "net.core."},
		{"loader.conf", "hw.ibrs_disable=\"1\"\r\nnet.isr.maxthreads=\"4\"\r\n", "\""},
		{"rc.conf", "ifconfig_em0=\"up -tso \\\n lro\"\ngateway_enable=YES\n", "="},
		{"pf.conf", "set limit states 10\nmatch scrub (max-mss 1440)\npass in keep state (max 5)\n", "set "},
		{"10-a.link", "[Match]\nName=a\n[Link]\nRxBufferSize=1\n", "[Link]\n"},
		{"tuned.conf", "[sysctl]\nnet.core.rmem_max=1\n", "\xff\r"},
		{"hostname.em0", "inet 10.0.0.1\nup mtu 1500\n", "\x00"},
	} {
		f.Add(s.name, s.src, s.insert, 0, 5, 1, 3)
	}
	c, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, src, insert string, line, character, endLine, endCharacter int) {
		name = strings.ToValidUTF8(name, "?")
		src, insert = strings.ToValidUTF8(src, "?"), strings.ToValidUTF8(insert, "?") // JSON has no other text
		editor := dial(t, Config{Catalog: c, Options: plainOptions}, `{"general":{"positionEncodings":["utf-8"]}}`, "")
		uri := "untitled:" + name
		editor.open(uri, src)
		r := textRange{position{line, character}, position{endLine, endCharacter}}
		editor.notify("textDocument/didChange", map[string]any{"textDocument": documentItem{URI: uri, Version: 2},
			"contentChanges": []contentChange{{Range: &r, Text: insert}}})
		now := newText(newText(src, encodingUTF8).apply(contentChange{&r, insert}), encodingUTF8)
		inside := func(what string, r textRange) {
			start, end := now.offset(r.Start), now.offset(r.End)
			if now.position(start) != r.Start || now.position(end) != r.End || end < start {
				t.Fatalf("%s: %+v is no range of %q", what, r, now.src)
			}
		}
		for _, d := range editor.next(uri, 2).Diagnostics {
			inside(d.Code, d.Range)
			if !utf8.ValidString(d.Message) {
				t.Fatalf("%q", d.Message)
			}
		}
		var h *hover
		if editor.call("textDocument/hover", at(uri, line, character), &h); h != nil {
			inside("hover", h.Range)
		}
		var list completionList
		editor.call("textDocument/completion", at(uri, line, character), &list)
		for _, item := range list.Items {
			inside("completion", item.TextEdit.Range)
		}
		var symbols []symbol
		editor.call("textDocument/documentSymbol", at(uri, 0, 0), &symbols)
		for _, s := range symbols {
			inside("symbol", s.Range)
			inside("symbol's name", s.SelectionRange)
		}
		var actions []codeAction
		params := map[string]any{"textDocument": map[string]string{"uri": uri}, "range": textRange{End: position{1 << 30, 0}},
			"context": map[string]any{"diagnostics": []any{}}}
		editor.call("textDocument/codeAction", params, &actions)
		for _, a := range actions {
			for _, e := range a.Edit.Changes[uri] {
				inside(a.Title, e.Range)
			}
		}
		editor.conn.Close()
		<-editor.served
	})
}

// FuzzWire sends any bytes as messages: the server ends, and does not crash.
func FuzzWire(f *testing.F) {
	message := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(data), data)
	}
	call := func(id int, method string, params any) string {
		return message(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	}
	f.Add([]byte(call(1, "initialize", map[string]any{}) + call(2, "shutdown", nil) + call(3, "exit", nil)))
	f.Add([]byte(call(1, "initialize", map[string]any{}) + call(2, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": "a", "text": "x=1"}})))
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	c, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		here, there := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(context.Background(), there, Config{Catalog: c, Options: plainOptions}) }()
		go func() { _, _ = io.Copy(io.Discard, here) }()
		_, _ = here.Write(data) // the server may leave before all is read
		here.Close()
		<-done
	})
}
