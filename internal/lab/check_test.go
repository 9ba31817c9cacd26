//go:build linux

package lab

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestChecksHaveLinksAndBasis(t *testing.T) {
	for _, item := range checkItems() {
		if _, err := ParseLink(item.link); err != nil {
			t.Errorf("%s: %v", item.what, err)
		}
		if item.basis == "" || item.unit == "" {
			t.Errorf("%s on %s: no basis or unit", item.what, item.link)
		}
	}
}

func TestCheckSaysWhatItFound(t *testing.T) {
	r := CheckResult{What: "rate", Link: "rate=1mbit", Unit: "Mbit/s", KeptUp: true}
	for want, got := range map[string]CheckResult{
		"ok":      r.within(10, 10.05, 0.01),
		"FAILED":  r.within(10, 11, 0.01),
		"no time": CheckResult{What: "rate"}.within(10, 11, 0.01),
		"skipped": {Skipped: "no iperf3"},
	} {
		if !strings.HasPrefix(got.String(), want) {
			t.Errorf("%q does not begin with %q", got, want)
		}
	}
}

// An item that cannot be made here is skipped with its reason; another error
// ends the check.
func TestCheckSkipsWithReason(t *testing.T) {
	needLab(t)
	item := checkItem{link: "rtt=1ms", run: func(context.Context, *Lab, CheckResult) (CheckResult, error) {
		return CheckResult{}, errSkip("no cubic")
	}}
	if r, _, err := item.check(t.Context(), AwakeAuto); err != nil || r.Skipped != "no cubic" {
		t.Errorf("got %+v, %v", r, err)
	}
	item.run = func(context.Context, *Lab, CheckResult) (CheckResult, error) {
		return CheckResult{}, errors.New("broken")
	}
	if _, _, err := item.check(t.Context(), AwakeAuto); err == nil {
		t.Error("an error was lost")
	}
}

func TestBinomialInterval(t *testing.T) {
	// 200000 x 0.001: mean 200, sigma 14.13.
	if low, high := binomialInterval(200_000, 1e-3); low != 153 || high != 247 {
		t.Errorf("%g to %g, want 153 to 247", low, high)
	}
}
