package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
)

// MessageLimit bounds one message of a client, in bytes.
const MessageLimit = 64 << 20

// headerLimit bounds the header of a message, in bytes.
const headerLimit = 4 << 10

// codec frames messages as the base protocol of LSP does, within bounds. A
// message is read whole before it is decoded, so that the next one is found
// whatever this one holds.
type codec struct{}

// ReadObject implements jsonrpc2.ObjectCodec.
func (codec) ReadObject(r *bufio.Reader, v any) error {
	length := -1
	for size := 0; ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if size += len(line); size > headerLimit {
			return errors.New("the header of a message is too long")
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		if textproto.CanonicalMIMEHeaderKey(name) != "Content-Length" {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > MessageLimit {
			return fmt.Errorf("a message of %.20q bytes: a length from 0 to %d is expected", value, MessageLimit)
		}
	}
	if length < 0 {
		return errors.New("a message without Content-Length")
	}
	var data bytes.Buffer // it grows with what comes, not with what is announced
	if _, err := io.CopyN(&data, r, int64(length)); err != nil {
		return err
	}
	return json.Unmarshal(data.Bytes(), v)
}

// WriteObject implements jsonrpc2.ObjectCodec.
func (codec) WriteObject(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(data), data)
	return err
}

// The types below are those of the specification that the server uses, with its
// names: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type initializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			Configuration bool `json:"configuration"`
			WorkspaceEdit struct {
				DocumentChanges    bool     `json:"documentChanges"`
				ResourceOperations []string `json:"resourceOperations"`
			} `json:"workspaceEdit"`
		} `json:"workspace"`
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
	InitializationOptions json.RawMessage `json:"initializationOptions"`
}

type documentItem struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type documentParams struct {
	TextDocument documentItem `json:"textDocument"`
}

type changeParams struct {
	TextDocument   documentItem    `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

type contentChange struct {
	Range *textRange `json:"range"` // nil: the whole text
	Text  string     `json:"text"`
}

type positionParams struct {
	TextDocument documentItem `json:"textDocument"`
	Position     position     `json:"position"`
}

type actionParams struct {
	TextDocument documentItem `json:"textDocument"`
	Range        textRange    `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Tags     []int     `json:"tags,omitempty"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type completionItem struct {
	Label            string    `json:"label"`
	Kind             int       `json:"kind"`
	Detail           string    `json:"detail,omitempty"`
	Documentation    *markup   `json:"documentation,omitempty"`
	SortText         string    `json:"sortText,omitempty"`
	FilterText       string    `json:"filterText,omitempty"`
	InsertTextFormat int       `json:"insertTextFormat,omitempty"`
	TextEdit         *textEdit `json:"textEdit,omitempty"`
	// Data is the system whose setting the label names.
	Data string `json:"data,omitempty"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type symbol struct {
	Name           string    `json:"name"`
	Detail         string    `json:"detail,omitempty"`
	Kind           int       `json:"kind"`
	Range          textRange `json:"range"`
	SelectionRange textRange `json:"selectionRange"`
}

type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes,omitempty"`
	DocumentChanges []any                 `json:"documentChanges,omitempty"`
}

// documentEdit changes a document of a version, null for one that is not open.
type documentEdit struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type createFile struct {
	Kind    string `json:"kind"`
	URI     string `json:"uri"`
	Options struct {
		IgnoreIfExists bool `json:"ignoreIfExists"`
	} `json:"options"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

// Numbers of the specification.
const (
	tagUnnecessary   = 1
	itemProperty     = 10
	itemValue        = 12
	formatSnippet    = 2
	symbolProperty   = 7
	messageWarning   = 2
	syncIncremental  = 2
	notInitialized   = -32002
	encodingUTF8     = "utf-8"
	encodingUTF16    = "utf-16"
	encodingUTF32    = "utf-32"
	actionQuickFix   = "quickfix"
	actionFixAll     = "source.fixAll"
	actionFixAllOurs = "source.fixAll.wirerate"
)
