package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
)

// writeResult fills the output folder.
func writeResult(dir string, r experiment.Result, sides []experiment.Side) error {
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return err
	}
	files := map[string][]byte{"report.html": page.Bytes()}
	for name, v := range map[string]any{"result.json": r, "plan.json": r.Plans} {
		data, err := indentedJSON(v)
		if err != nil {
			return err
		}
		files[name] = data
	}
	var picture bytes.Buffer
	if err := report.SVG(&picture, r); err != nil {
		return err
	}
	files["result.svg"] = picture.Bytes()
	for _, e := range sides {
		for _, f := range plan.NativeFiles(e.Plan, keepers(r)) {
			files[e.Name+"-"+f.Name] = []byte(f.Content)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
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
