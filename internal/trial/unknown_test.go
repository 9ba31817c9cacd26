package trial

import (
	"errors"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/workload"
)

func TestRunWithoutMetric(t *testing.T) {
	run := workload.Run{Unknown: map[string]string{workload.ReadBytes: "tmpfs is memory"}}
	for metric, want := range map[string]string{workload.ReadBytes: "tmpfs is memory", workload.Goodput: "above 0"} {
		if err := withoutMetric(run, metric); !errors.Is(err, workload.ErrTool) || !strings.Contains(err.Error(), metric) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", metric, err)
		}
	}
}
