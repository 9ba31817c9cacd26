//go:build linux

package selfcheck

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
)

func TestChecksHaveLinksAndBasis(t *testing.T) {
	for _, item := range checkItems() {
		if _, err := link.Parse(item.link); err != nil {
			t.Errorf("%s: %v", item.what, err)
		}
		if item.basis == "" || item.unit == "" {
			t.Errorf("%s on %s: no basis or unit", item.what, item.link)
		}
	}
}

func TestCheckSaysWhatItFound(t *testing.T) {
	r := Result{What: "rate", Link: "rate=1mbit", Unit: "Mbit/s", KeptUp: lab.Yes}
	for want, got := range map[string]Result{
		"ok":      r.within(10, 10.05, 0.01),
		"FAILED":  r.within(10, 11, 0.01),
		"no time": Result{What: "rate", KeptUp: lab.No}.within(10, 11, 0.01),
		"skipped": {Skipped: "no iperf3"},
		"FAILED ": r.within(10, math.NaN(), 0.01),
	} {
		if !strings.HasPrefix(got.String(), want) {
			t.Errorf("%q does not begin with %q", got, want)
		}
	}
}

// A transfer of which much was left out judges nobody.
func TestTransferLeftOutIsOfTheMachine(t *testing.T) {
	for _, c := range []struct {
		res  result
		want string
	}{
		{result{counted: 4 * time.Second, leftOut: time.Second, enough: true}, "FAILED"},
		{result{counted: 4 * time.Second, leftOut: 2 * time.Second, enough: true}, "no time"},
		{result{counted: time.Second, leftOut: 0}, "no time"},
	} {
		if got := (Result{Unit: "Mbit/s"}).transferred(c.res).within(10, 11, 0.01).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.res, got, c.want)
		}
	}
}

// A check is made again where the machine may be to blame, and of its attempts the
// least disturbed counts.
func TestWhichAttemptOfACheckCounts(t *testing.T) {
	wrong := Result{KeptUp: lab.Yes}.within(10, 11, 0.01)
	late, later := wrong, wrong
	late.LeftOut, later.LeftOut, later.KeptUp = time.Second, 9*time.Second, lab.No
	for _, c := range []struct {
		r    Result
		want bool
	}{{wrong, false}, {late, true}, {later, true}, {Result{LeftOut: time.Second}.within(10, 10, 0.01), false}, {Result{Skipped: "no netem"}, false}} {
		if c.r.disturbed() != c.want {
			t.Errorf("%+v", c.r)
		}
	}
	if !late.calmer(later) || later.calmer(late) || !wrong.calmer(late) || late.calmer(late) {
		t.Error("the least disturbed attempt is not told")
	}
}

// A number that is not the published one is not passed off as it.
func TestChecksNoteWhereTheyLeaveTheTables(t *testing.T) {
	for _, r := range responses() {
		item := r.check()
		result := Result{Unit: item.unit, Note: item.note}.within(r.window, r.window, 0.1)
		if leaves := r.every == 100 && r.window != 12; leaves != strings.Contains(result.String(), "RFC 9438 has 12") {
			t.Errorf("%s, %s, 1/%d: %s", r.algorithm, r.rtt, r.every, result)
		}
	}
}

// A ping comes back, and not before the round-trip time is over (but for what
// waking up is allowed for).
func TestExchangeTakesTheRoundTrip(t *testing.T) {
	l := up(t, "rate=1gbit,rtt=20ms")
	trips, err := exchange(t.Context(), l, 3, time.Millisecond)
	if err != nil || len(trips) == 0 {
		t.Fatalf("%d answers, %v", len(trips), err)
	}
	for _, trip := range trips {
		if trip < 19500*time.Microsecond {
			t.Errorf("back after %s", trip)
		}
	}
}

// An item that cannot be made here is skipped with its reason; another error
// ends the check.
func TestCheckSkipsWithReason(t *testing.T) {
	needLab(t)
	item := checkItem{link: "rtt=1ms", run: func(context.Context, *lab.Lab, Result) (Result, error) {
		return Result{}, errSkip("no cubic")
	}}
	if r, _, err := item.check(t.Context(), lab.AwakeOptions{}); err != nil || r.Skipped != "no cubic" {
		t.Errorf("got %+v, %v", r, err)
	}
	item.run = func(context.Context, *lab.Lab, Result) (Result, error) {
		return Result{}, errors.New("broken")
	}
	if _, _, err := item.check(t.Context(), lab.AwakeOptions{}); err == nil {
		t.Error("an error was lost")
	}
}

// Runs of what is missing are told apart, whatever the order and the doubles.
func TestLossesInARow(t *testing.T) {
	r := received{seq: []uint32{0, 1, 1, 4, 6, 7, 6, 10}, at: make([]time.Duration, 8)} // 2 and 3, 5, 8 and 9
	if got := r.meanBurst(); math.Abs(got-5.0/3) > 1e-9 {
		t.Errorf("%g in a row, want 5/3", got)
	}
	var many received
	for i := range 100 { // each second one is lost
		many.seq = append(many.seq, uint32(2*i))
		many.at = append(many.at, time.Duration(i)*time.Millisecond)
	}
	if got := many.fiftyLosses(); got != 49 {
		t.Errorf("%g ms, want 49", got)
	}
	if data, err := json.Marshal(Result{}.within(1, r.fiftyLosses(), 0.1)); err != nil || !strings.Contains(string(data), "nothing to measure") {
		t.Errorf("%s, %v", data, err)
	}
}

func TestBinomialInterval(t *testing.T) {
	// 200000 x 0.001: mean 200, sigma 14.13.
	if low, high := binomialInterval(200_000, 1e-3); low != 153 || high != 247 {
		t.Errorf("%g to %g, want 153 to 247", low, high)
	}
}
