package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wirerate/wirerate/internal/cli"
)

// What tells a script's programs where docs/schema is, and the folder for what
// they find wrong: a script may expect that a program fails.
const (
	schemaFolder = "WIRERATE_TEST_SCHEMAS"
	faultFolder  = "WIRERATE_TEST_FAULTS"
)

// mainChecked is the program, with what it prints as JSON held against its
// schema.
func mainChecked() int {
	schema := schemaOf(os.Args[1:])
	info, err := os.Stdout.Stat()
	if schema == "" || err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return cli.Main()
	}
	screen := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = w
	var printed bytes.Buffer
	copied := make(chan error)
	go func() {
		_, err := io.Copy(io.MultiWriter(screen, &printed), r)
		copied <- err
	}()
	status := cli.Main()
	w.Close()
	if err := errors.Join(<-copied, validate(os.Getenv(schemaFolder), schema, &printed)); err != nil {
		f, failed := os.CreateTemp(os.Getenv(faultFolder), "")
		if failed != nil {
			panic(failed)
		}
		fmt.Fprintf(f, "wirerate %q: docs/schema/%s.json: %v", os.Args[1:], schema, err)
		f.Close()
	}
	return status
}

// noFaults fails a test when its scripts' programs found something wrong.
func noFaults(t *testing.T, folder string) {
	found, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		text, _ := os.ReadFile(name)
		t.Errorf("%s", text)
	}
}

// schemaOf names the schema of what a command line prints; empty where that is
// no JSON.
func schemaOf(args []string) string {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	at := slices.Index(args, "--format")
	if !slices.Contains(args, "--json") && !slices.Contains(args, "--format=json") && (at < 0 || at+1 == len(args) || args[at+1] != "json") {
		return ""
	}
	cmd, _, err := cli.Tree().Find(args)
	if err != nil || cmd.Name() == "exec" || cmd.Name() == "shell" {
		return "" // standard output is the program's
	}
	return strings.Join(strings.Fields(cmd.CommandPath())[1:], "-")
}

// validate holds each JSON document of r against a schema, in which nothing
// but what it names may be there.
func validate(folder, schema string, r io.Reader) error {
	data, err := os.ReadFile(filepath.Join(folder, schema+".json"))
	if err != nil {
		return err
	}
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for _, def := range text.(map[string]any)["$defs"].(map[string]any) {
		if object := def.(map[string]any); object["properties"] != nil && object["additionalProperties"] == nil {
			object["additionalProperties"] = false
		}
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", text); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(r); ; {
		dec.UseNumber()
		var document any
		if err := dec.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := compiled.Validate(document); err != nil {
			return err
		}
	}
}

// validates is the script command "schema NAME FILE...".
func validates(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: schema name file...")
	}
	for _, name := range args[1:] {
		if err := validate(ts.Getenv(schemaFolder), args[0], strings.NewReader(ts.ReadFile(name))); err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
	}
}

// TestSchemasRefuse makes sure that a schema that is checked can be failed.
func TestSchemasRefuse(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "schema")
	for _, d := range cli.Documents() {
		name := strings.TrimSuffix(d.Name, ".json")
		if name != d.Name {
			name += ".file"
		}
		for _, text := range []string{`{"schema": "two"}`, `{"made_up": 1}`, `[{"made_up": 1}]`, `{}`} {
			if err := validate(folder, name, strings.NewReader(text)); err == nil {
				t.Errorf("the schema of %s accepts %s", d.Name, text)
			}
		}
	}
}
