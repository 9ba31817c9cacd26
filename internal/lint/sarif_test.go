package lint

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
	res := Run(small(t), files("/etc/a b%/sysctl.conf", "net.core.plain = 1001\n\tnet.core.old\u00e9 1\n", "rel/\u00e9-sysctl.conf", "net.core.plain=x\n"), Options{})
	log := res.SARIF("1.0")
	if len(log.Runs[0].Results) < 3 {
		t.Fatalf("problems: %s", list(res))
	}
	for _, l := range []SARIF{log, (&Result{}).SARIF("")} {
		if err := validate(l); err != nil {
			t.Error(err)
		}
	}
	for _, r := range log.Runs[0].Results {
		if r.RuleIndex < 0 || log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule index %d is not %s", r.RuleIndex, r.RuleID)
		}
	}
	log.Version = "2.0"
	if validate(log) == nil {
		t.Error("the schema accepts a wrong version: it validates nothing")
	}
}
