package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
)

// TestFullDisk: what does not fit is an error, also where the writer forgets
// what Write said.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	runs := []report.ExportedTrial{{Attempts: []store.Attempt{{Arm: "current", At: time.Now()}}}}
	env := &Env{}
	for name, write := range map[string]func(*Env) error{
		"CSV":         func(to *Env) error { return failure(report.CSV(to.Stdout, runs)) },
		"OpenMetrics": func(to *Env) error { return failure(report.OpenMetrics(to.Stdout, runs)) },
		"text": func(to *Env) error {
			fmt.Fprintln(to.Stdout, "forgotten")
			return nil
		},
	} {
		if err := env.writeTo("/dev/full", write); !failed(err) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "runs.csv")
	if err := env.writeTo(file, func(to *Env) error { return report.CSV(to.Stdout, runs) }); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "trial,kind") {
		t.Errorf("%v %q", err, data)
	}
}

// failed reports whether an error ends the program as a failure.
func failed(err error) bool {
	status, told := statusOf(err)
	return told && status == exitFailure
}
