package cli

import "github.com/spf13/cobra"

// newHostsTopic is a page of help without a verb.
func newHostsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "hosts",
		Short: "How a HOST is named: local, ns:NAME, ssh://..., a capture",
		Long: `A HOST is one of:

  local              this machine; the default
  ns:NAME            a network namespace of this machine (ip netns)
  ssh://[USER@]NAME[:PORT][?become=sudo|doas]
                     a host reached with the OpenSSH client and your own
                     ssh_config(5), keys and agent; nothing is installed there
  FILE               a capture (wirerate capture), for verbs that only read

Verbs that change settings or read all counters need root on the host. Log in as
root, or as a user who may become root without a password, and add become=sudo
or become=doas. Quote the address, since ? means something to the shell:

  wirerate inspect 'ssh://user@host:2222?become=sudo'
  wirerate apply plan/ 'ssh://admin@fw1?become=doas'

In sudoers(5) the user needs NOPASSWD: /bin/sh, in doas.conf(5) permit nopass.
Host keys are always checked. --ssh-config names another ssh_config(5) file.`,
	}
}
