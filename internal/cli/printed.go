package cli

import (
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/shell"
)

// commandLine writes a command of this program for the user to type: with the
// words given and the --ssh-config of this run.
func (e *Env) commandLine(words ...string) string {
	line := "wirerate"
	if e.SSH.ConfigFile != "" {
		words = append(words, "--ssh-config", e.SSH.ConfigFile)
	}
	for _, w := range words {
		line += " " + shell.Word(w)
	}
	return line
}

// commandFor returns what writes commands about the changes of a host, named as
// it was typed, whose journals are in a folder that was named, or not.
func (e *Env) commandFor(host, stateDir string) change.Command {
	return func(verb string, words ...string) string {
		all := append([]string{verb}, words...)
		if host != "" && host != "local" {
			all = append(all, host)
		}
		if stateDir != "" {
			all = append(all, "--state-dir", stateDir)
		}
		return e.commandLine(all...)
	}
}
