package report

import (
	"bytes"
	"strings"
	"testing"
)

// The page of a log shows the trial of the change beside it.
func TestWeblogTrialHTML(t *testing.T) {
	for name, trial := range samples() {
		var b bytes.Buffer
		if err := WeblogTrialHTML(&b, sampleComparison(t), trial); err != nil {
			t.Fatal(err)
		}
		page := unescaped(b.String())
		for _, want := range []string{headline(trial), "The trial of the change", "Kolmogorov-Smirnov", "answered in less than"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		for _, bad := range []string{"NaN", "Inf", "<script", "ZgotmplZ", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q occurs", name, bad)
			}
		}
	}
}
