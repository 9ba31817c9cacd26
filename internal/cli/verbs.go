package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

// verbs lists every verb in the order of the help.
func verbs(env *Env) []*cobra.Command {
	return []*cobra.Command{
		newTuneCmd(env),
		newTrialCmd(env),
		newAttributeCmd(env),
		newMeasureCmd(env),
		newInspectCmd(env),
		newCaptureCmd(env),
		newPlanCmd(env),
		newApplyCmd(env),
		newConfirmCmd(env),
		newRollbackCmd(env),
		newStatusCmd(env),
		newVerifyCmd(env),
		newLintCmd(env),
		newExplainCmd(env),
		newCalcCmd(env),
		newLabCmd(env),
		newWeblogCmd(env),
		newHistoryCmd(env),
		newReportCmd(env),
		newExportCmd(env),
		newTrafficCmd(env),
		newVersionCmd(env),
	}
}

// helpWidth is how many columns --help takes.
const helpWidth = 80

// wrapped writes a text for --help, in lines that begin below the end of first.
func wrapped(first, text string) string {
	indent := "\n" + strings.Repeat(" ", len(first))
	return first + strings.ReplaceAll(ansi.Wordwrap(text, helpWidth-len(first), ""), "\n", indent)
}
