package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
)

const labAbout = `lab connects namespaces on this machine by an emulated link, so that any program
can be tried on a path that is not at hand. It does not touch the machine's own
network, has no connection to the outside (no name resolution, no downloads),
and leaves nothing behind.

A LINK is a list of fields, or the name of a profile (see lab profiles) that
further fields change:

  rate=1gbit            bit rate on the wire, Ethernet framing included
  rtt=80ms              round-trip time, half in each direction; or delay=40ms
  jitter=2ms            2ms:normal, 2ms:pareto; 2ms:uniform:overtake reorders
  queue=1bdp            what may wait: 256KiB, 100packets, 50ms, 0.5bdp
  full=pause            a full queue drops nothing, and holds back the links
                        into its host, as a switch with flow control does
  aqm=codel             or codel:TARGET:INTERVAL; ecn=on makes it mark
  ecn=100packets        mark above a threshold (bytes, packets or time)
  loss=1e-5             0.1%, every:1000, burst:ENTER,LEAVE
  mark= duplicate= corrupt= reorder=    as loss; hold=1ms for reordered ones
  trace=FILE            delivery opportunities in mahimahi's format
  mtu=1500 framing=ethernet|ip seed=1 backend=netem (where the kernel has it)

A field holds for both directions, or with up: (from the client) or down: for
one, whatever is given for both: rtt=30ms,rate=100mbit,up:rate=10mbit.

--router puts a router between client and server, a host of its own that
forwards and whose settings can be tried; --access LINK, once for each, makes
clients that share LINK's bottleneck to the server. Programs run on any host
with --on HOST or lab shell NAME HOST:

  wirerate lab up gate rate=1gbit,rtt=20ms --router
  wirerate lab shell gate router -- nft list ruleset

A slow client's queue that pauses can ruin its neighbours; one that drops (the
default), or a smaller send buffer of the connection to it, does not:

  wirerate lab up ruin rate=1gbit,rtt=300us,queue=1MiB --access rate=1gbit \
    --access rate=100mbit,queue=128KiB,down:full=pause

docs/lab.md has commands to try, for each kind.

The emulator sleeps in the kernel until a packet comes or is due. On a virtual
machine a processor that sleeps goes back to the hypervisor, which may return it
tens of milliseconds late. Where that is seen (time stolen from this machine
since boot, and no limit on this process's own), a lab keeps up to 16 processors
awake: a process wirerate-awake runs whenever nothing else wants to (class
SCHED_IDLE, counted as "nice" time), rests while the lab carries nothing, and
ends with the lab; what it used is said where the emulator reports. lab exec
does so from 100mbit on, and nothing does on a battery. --awake on or off
decides otherwise, with the share of each processor's time that it may take,
on:50%; the environment variable WIRERATE_AWAKE does so for every command that
brings up a lab.`

// newLabCmd is the verb lab: emulated paths for any program.
func newLabCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Args:  cobra.ArbitraryArgs,
		Short: "Run programs on an emulated path on this machine",
		Long:  labAbout,
		Example: `  wirerate lab exec rate=1gbit,rtt=80ms,loss=1e-5 --serve 'iperf3 -s' -- \
    sh -c 'iperf3 -c $WIRERATE_PEER'
  wirerate lab up sat geo-satellite && wirerate lab shell sat
  wirerate lab check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("lab %s: no such command; see: wirerate lab --help", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newLabExecCmd(env), newLabProfilesCmd(env), newLabCheckCmd(env),
		newLabUpCmd(env), newLabDownCmd(env), newLabListCmd(env), newLabShellCmd(env), newLabHoldCmd(env))
	return cmd
}

// labError gives a lab's error its exit status.
func labError(err error) error {
	var ended *lab.Ended
	if errors.As(err, &ended) {
		return &exitError{ended.Status, nil}
	}
	if errors.Is(err, lab.ErrUnavailable) {
		return missing(err)
	}
	return failure(err)
}
