package cli

import (
	"bytes"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
)

// writeResult fills the output folder.
func writeResult(out outputFolder, r experiment.Result, sides []experiment.Side) error {
	files, err := trialFiles(r)
	if err != nil {
		return err
	}
	plans, err := indentedJSON(r.Plans)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := report.SVG(&picture, r); err != nil {
		return err
	}
	files = append(files, outdir.File{Name: "plan.json", Data: plans}, outdir.File{Name: "result.svg", Data: picture.Bytes()})
	for _, e := range sides {
		for _, f := range plan.NativeFiles(e.Plan, keepers(r)) {
			files = append(files, outdir.File{Name: e.Name + "-" + f.Name, Data: []byte(f.Content)})
		}
	}
	return out.write(files...)
}

// keepers tells of each setting that was tried whether it earned its place;
// without shares every planned change is kept.
func keepers(r experiment.Result) func(setting string) (keep bool, why string) {
	dropped := map[string]string{}
	for _, share := range r.Shares {
		if !share.Kept {
			dropped[share.Setting] = report.Dropped(share)
		}
	}
	return func(setting string) (bool, string) {
		why, ok := dropped[setting]
		return !ok, why
	}
}
