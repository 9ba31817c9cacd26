package transcript

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestOutputsAlone holds that an output is known by its form when it comes without the command, as people paste it.
func TestOutputsAlone(t *testing.T) {
	// Others begin the same way: geom part list, iostat -D with rates and with totals, settings of a file.
	ambiguous := strings.Split("geom disk list,iostat -D,iostat -DI,kenv", ",")
	for _, system := range []string{"freebsd", "openbsd"} {
		archive, err := txtar.ParseFile("../facts/testdata/" + system + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			o := newOutputs()
			o.takeLoose(passage{strings.Split(strings.TrimRight(string(file.Data), "\n"), "\n"), 1})
			tool, _, _ := strings.Cut(file.Name, " ")
			known := false
			for name := range o.texts {
				known = known || name == file.Name || strings.HasPrefix(name, tool+" -") || file.Name == "ifconfig hwfeatures"
			}
			if !known && !slices.Contains(ambiguous, file.Name) {
				t.Errorf("%s: %s is not known without its command: %q", system, file.Name, o.texts)
			}
		}
	}
}
