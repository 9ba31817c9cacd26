package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
)

// writeResult fills the output folder.
func writeResult(out outputFolder, r report.Result, s *benchSession) error {
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
	for _, e := range []*end{&s.client, &s.server} {
		for _, f := range plan.NativeFiles(e.plan, keepers(r)) {
			files = append(files, outdir.File{Name: e.side + "-" + f.Name, Data: []byte(f.Content)})
		}
	}
	return out.write(files...)
}

// keepers tells of each setting that was tried whether it earned its place;
// without shares every planned change is kept.
func keepers(r report.Result) func(setting string) (keep bool, why string) {
	dropped := map[string]string{}
	for _, share := range r.Shares {
		if !share.Kept {
			dropped[share.Setting] = fmt.Sprintf("%s (%.3f, %.3f to %.3f)", strings.TrimPrefix(share.Because, "dropped: "), share.Ratio, share.Low, share.High)
		}
	}
	return func(setting string) (bool, string) {
		why, ok := dropped[setting]
		return !ok, why
	}
}
