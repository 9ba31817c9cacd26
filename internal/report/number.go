package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/units"
)

const notKnown = "not known"

// ratio prints a ratio with three significant digits: 0.98, 1.05, 12.4, 0.023.
func ratio(r float64) string {
	switch a := math.Abs(r); {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return "?"
	case a >= 100:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(r, 'f', 2, 64)
	}
	return strconv.FormatFloat(r, 'g', 2, 64)
}

// times prints a ratio as people say it: "15.7 times" when it is far from 1,
// else "+12.3%".
func times(r float64) string {
	if far(r) {
		return ratio(r) + " times"
	}
	return change(r)
}

// change prints a ratio as a percentage of change with its sign.
func change(r float64) string {
	percent := math.Round((r-1)*1000) / 10
	switch {
	case math.IsNaN(percent) || math.IsInf(percent, 0):
		return "?"
	case percent < 0:
		return fmt.Sprintf("−%.1f%%", -percent)
	case percent > 0:
		return fmt.Sprintf("+%.1f%%", percent)
	}
	return "±0.0%"
}

// span prints both limits of an interval in the form of the estimate, as
// percentages of change or as factors.
func span(estimate, low, high float64) string {
	if far(estimate) {
		return fmt.Sprintf("%s to %s", factor(low), factor(high))
	}
	from, to := strings.TrimPrefix(change(low), "±"), strings.TrimPrefix(change(high), "±")
	const most = 10 // beyond it a limit is not worth its digits
	if high > most {
		to = ">+900%"
	}
	if from == to && from == "0.0%" {
		return "within 0.05% of no change"
	}
	return from + " to " + to
}

// far tells whether a ratio reads better as a factor than as a percentage.
func far(r float64) bool { return r >= 2 || r <= 0.5 }

// factor prints a limit; what lies far outside of anything measured is not
// worth its digits.
func factor(r float64) string {
	switch {
	case r > 1000:
		return "over 1000"
	case r < 0.001:
		return "below 0.001"
	}
	return ratio(r)
}

// percent prints a part of 1 with up to three significant digits: 95%, 97.6%.
func percent(part float64) string {
	return strconv.FormatFloat(math.Round(part*1000)/10, 'f', -1, 64) + "%"
}

// Value prints a value of a metric with its unit: 9.41 Gbit/s, 17 k/s.
func Value(metric string, v float64) string { return quantityOf(metric).print(v) }

func bits(bps float64) string {
	return prefixed(bps, "bit/s")
}

// prefixed prints a positive number with three significant digits and a decimal
// prefix; what is not one is not known.
func prefixed(v float64, unit string) string {
	if !(v > 0) || math.IsInf(v, 0) {
		return notKnown
	}
	exponent := math.Floor(math.Log10(v))
	v = math.Round(v/math.Pow(10, exponent-2)) * math.Pow(10, exponent-2)
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if v < 999.5 {
			break
		}
		v, prefix = v/1000, p
	}
	digits := 2
	switch {
	case v >= 99.95:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s%s", digits, v, prefix, unit)
}

// amount prints a ceiling's value in its metric's unit.
func amount(c diagnose.Ceiling) string {
	if !c.Known {
		return notKnown
	}
	switch c.Metric {
	case diagnose.PacketRate:
		return prefixed(c.Value, "packets/s")
	case diagnose.ConnectRate:
		return prefixed(c.Value, "conn/s")
	}
	return bits(c.Value)
}

// seconds prints a time in seconds: 50 ms, 1.25 s.
func seconds(s float64) string {
	switch {
	case !(s > 0) || s > 1e9:
		return notKnown
	case s >= 60:
		return time.Duration(s * 1e9).Round(time.Second).String()
	case s >= 1:
		return significant(s) + " s"
	case s >= 1e-3:
		return significant(s*1e3) + " ms"
	}
	return significant(s*1e6) + " µs"
}

func significant(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// sizeOf prints a number of bytes: 3.27 GiB.
func sizeOf(n float64) string {
	if !(n > 0 && n < 1<<62) {
		return notKnown
	}
	return units.Bytes(n).String()
}
