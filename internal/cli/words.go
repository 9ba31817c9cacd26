package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// share is a flag for a part of something: 5%, or 0.05.
type share float64

func (s *share) Type() string { return "share" }

func (s *share) String() string { return strconv.FormatFloat(100*float64(*s), 'g', 6, 64) + "%" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(v):
		return errors.New("a share is expected, like 5% or 0.05")
	case percent:
		v /= 100
	case v >= 1:
		return fmt.Errorf("a share is expected, like 5%% or 0.05; did you mean %s%%?", number)
	}
	if v < 0 || v >= 1 {
		return errors.New("a share from 0 to below 100% is expected, like 5% or 0.05")
	}
	*s = share(v)
	return nil
}

// amount is a flag for a number of things: 50000, 50k, 2M.
type amount float64

func (n *amount) Type() string { return "number" }

func (n *amount) String() string { return strconv.FormatFloat(float64(*n), 'f', -1, 64) }

func (n *amount) Set(text string) error {
	number, factor := strings.TrimSpace(text), 1.0
	if last := len(number) - 1; last > 0 {
		if f := map[byte]float64{'k': 1e3, 'K': 1e3, 'm': 1e6, 'M': 1e6, 'g': 1e9, 'G': 1e9}[number[last]]; f > 0 {
			number, factor = number[:last], f
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil || !(v >= 0 && v*factor <= 1e12) {
		return errors.New("a number from 0 to 1e12 is expected, like 50000, 50k or 2M")
	}
	*n = amount(v * factor)
	return nil
}

// countFlag declares a number of things.
func countFlag(f *pflag.FlagSet, to *float64, name, about string) {
	f.Var((*amount)(to), name, about)
	f.Lookup(name).DefValue = ""
}

// hostName is a HOST as it was given, or what is meant by it: user@host is
// reached by ssh, unless a capture has that name.
func hostName(name string) string {
	if !strings.Contains(name, "@") || strings.Contains(name, "://") || strings.HasPrefix(name, "ns:") ||
		strings.ContainsAny(name, "/ ") {
		return name
	}
	if _, err := os.Stat(name); err == nil {
		return name
	}
	return "ssh://" + name
}

// hostAndPeer takes HOST and PEER from the words of a command line, where --peer
// may have named the second.
func (f *experimentFlags) hostAndPeer(args []string) error {
	if len(args) > 0 {
		f.Host = args[0]
	}
	if len(args) > 1 {
		if f.Peer != "" {
			return fmt.Errorf("the peer is given twice: %s and --peer %s", args[1], f.Peer)
		}
		f.Peer = args[1]
	}
	f.Host, f.Peer, f.Via = hostName(f.Host), hostName(f.Peer), hostName(f.Via)
	return nil
}

// parsePath reads a PATH: fields of a path, or a LINK that begins with the name
// of a profile of labs.
func parsePath(text string) (netpath.Path, error) {
	name, _, _ := strings.Cut(text, ",")
	if _, ok := link.FindProfile(strings.TrimSpace(name)); !ok {
		if isPackets(text) {
			return capturedPath(text)
		}
		return netpath.Parse(text)
	}
	l, err := link.Parse(text)
	if err != nil {
		return netpath.Path{}, err
	}
	path, err := experiment.PathOf(l)
	path.Rate = max(l.Up.Rate, l.Down.Rate) // buffers are for the faster direction
	return path, err
}

// pathTo is the PATH of a verb that makes no runs itself: declared, a profile, or
// measured from a host to its peer.
func (e *Env) pathTo(ctx context.Context, text, host, peer string) (netpath.Path, error) {
	switch {
	case text == "auto" && peer == "":
		return netpath.Path{}, usagef("--path auto measures between two hosts: name the other one with --peer HOST, or " +
			"declare the path, like --path rate=1gbit,rtt=80ms")
	case text != "auto" && peer != "":
		return netpath.Path{}, usagef("--peer is for --path auto, which measures the path to it")
	case text != "auto":
		p, err := parsePath(text)
		return p, usage(err)
	}
	f := experimentFlags{verb: "measure"}
	f.Host, f.Peer, f.MeasurePath, f.NoHistory = hostName(host), hostName(peer), true, true
	f.Spec = workload.Spec{Workload: "bulk", Port: 5201}
	return run(ctx, e, &f, experiment.MeasurePath)
}

// memorySize reads the size of a machine's memory, which has at least 16 MiB.
func memorySize(text string) (units.Bytes, error) {
	memory, err := units.ParseBytes(text)
	if n, number := strconv.ParseFloat(text, 64); number == nil && n > 0 && memory < 16*units.MiB {
		return 0, fmt.Errorf("--memory %s: the unit is missing; did you mean %sGiB?", text, text)
	}
	if err != nil || memory < 16*units.MiB {
		return 0, fmt.Errorf("--memory %q: at least 16MiB is expected, like 64GiB", text)
	}
	return memory, nil
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
