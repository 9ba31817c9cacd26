package cli

import (
	"bytes"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
)

// writeResult fills the output folder. What apply reads, plan.json and the
// system's own files, holds what was proved; result.json has the whole plans.
func writeResult(out outputFolder, r experiment.Result, sides []experiment.Side) error {
	files, err := trialFiles(r)
	if err != nil {
		return err
	}
	proved := []plan.Plan{}
	for _, e := range sides {
		if e.Plan.Schema != 0 {
			proved = append(proved, e.Plan.Only(e.Keep))
		}
	}
	plans, err := indentedJSON(proved)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := report.SVG(&picture, r); err != nil {
		return err
	}
	files = append(files, outdir.File{Name: "plan.json", Data: plans}, outdir.File{Name: "result.svg",
		Data: picture.Bytes()})
	for _, e := range sides {
		for _, f := range plan.NativeFiles(e.Plan, e.Keep) {
			files = append(files, outdir.File{Name: e.Name + "-" + f.Name, Data: []byte(f.Content)})
		}
	}
	return out.write(files...)
}
