package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// share is a flag for a part of one: 0.05 or 5%.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

func (s *share) Type() string { return "share" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) {
		return errors.New("a share is expected, like 5% or 0.05")
	}
	*s = share(v)
	return nil
}

// count is a flag for a number of things: 50000, 50k or 1.5M.
type count float64

func (c *count) String() string { return strconv.FormatFloat(float64(*c), 'g', -1, 64) }

func (c *count) Type() string { return "number" }

func (c *count) Set(text string) error {
	number, factor := strings.TrimSpace(text), 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, factor = strings.TrimSpace(rest), f
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v*factor <= 1e12) {
		return errors.New("a number from 0 to 1e12 is expected, like 50000, 50k or 1.5M")
	}
	*c = count(v * factor)
	return nil
}

// countFlag declares a number of things.
func countFlag(f *pflag.FlagSet, to *float64, name, about string) {
	f.Var((*count)(to), name, about)
	f.Lookup(name).DefValue = ""
}

// parseMemory reads a machine's memory, at least least bytes.
func parseMemory(text string, least units.Bytes) (units.Bytes, error) {
	memory, err := units.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("--memory %q: %w", text, err)
	}
	if memory < least {
		hint := "like 64GiB"
		if n := strings.TrimSpace(text); memory > 0 && strings.Trim(n, "0123456789") == "" {
			hint = "did you mean " + n + "GiB?"
		}
		return 0, fmt.Errorf("--memory %q: at least %s is expected; %s", text, least, hint)
	}
	return memory, nil
}

// parsePath reads a PATH, or the name of a lab's profile; verb says who cannot
// measure one.
func parsePath(text, verb string) (netpath.Path, error) {
	if text == "auto" {
		return netpath.Path{}, fmt.Errorf("--path auto: %s does not measure the path; tune and trial do, between HOST and --peer HOST; declare it, like --path rate=1gbit,rtt=80ms", verb)
	}
	p, ok := link.FindProfile(text)
	if !ok && isPackets(text) {
		return capturedPath(text)
	}
	if !ok {
		return netpath.Parse(text)
	}
	l, err := link.Parse(p.Name)
	if err != nil {
		return netpath.Path{}, err
	}
	path, err := experiment.PathOf(l)
	path.Rate = max(l.Up.Rate, l.Down.Rate) // buffers are for the faster direction
	return path, err
}

// forceFlag lets a verb understand --force as --anyway, as other verbs call it.
func forceFlag(cmd *cobra.Command) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "force" {
			name = "anyway"
		}
		return pflag.NormalizedName(name)
	})
}
