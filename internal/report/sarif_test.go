package report

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lint"
)

// TestSARIF validates a log against the schema of SARIF 2.1.0 (OASIS, RTM 5),
// kept in testdata.
func TestSARIF(t *testing.T) {
	schemaFile, err := os.Open("testdata/sarif-2.1.0-rtm.5.json")
	if err != nil {
		t.Fatal(err)
	}
	defer schemaFile.Close()
	schema, err := jsonschema.UnmarshalJSON(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("sarif.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(log SARIF) error {
		data, err := json.Marshal(log)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return compiled.Validate(value)
	}
	res := linted(t, "/etc/a b%/sysctl.conf", "net.ipv4.tcp_fin_timeout = 30s\n\tnet.core.old\u00e9 1\n",
		"rel/\u00e9-sysctl.conf", "net.ipv4.tcp_sack=x\n")
	log := LintSARIF(res, "1.0")
	if len(log.Runs[0].Results) < 3 {
		t.Fatalf("problems: %+v", res.Problems)
	}
	for _, l := range []SARIF{log, LintSARIF(&lint.Result{}, "")} {
		if err := validate(l); err != nil {
			t.Error(err)
		}
	}
	for _, r := range log.Runs[0].Results {
		if r.RuleIndex < 0 || log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule index %d is not %s", r.RuleIndex, r.RuleID)
		} else if uri := log.Runs[0].Tool.Driver.Rules[r.RuleIndex].HelpURI; !strings.HasSuffix(uri, "#"+r.RuleID) {
			t.Errorf("help of %s at %s", r.RuleID, uri)
		}
	}
	log.Version = "2.0"
	if validate(log) == nil {
		t.Error("the schema accepts a wrong version: it validates nothing")
	}
}

// linted is what lint says about files of Linux 6.12, given as path and text in turn.
func linted(t *testing.T, files ...string) *lint.Result {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var in []lint.Input
	for i := 0; i < len(files); i += 2 {
		in = append(in, lint.Input{Path: files[i], Text: files[i+1]})
	}
	return lint.Run(c, in, lint.Options{System: catalog.Linux, Version: "6.12"})
}
