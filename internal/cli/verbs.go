package cli

import "github.com/spf13/cobra"

// verbs lists every verb in the order of the help.
func verbs(env *Env) []*cobra.Command {
	return []*cobra.Command{
		newTuneCmd(env),
		newTrialCmd(env),
		newAttributeCmd(env),
		newMeasureCmd(env),
		newInspectCmd(env),
		newWatchCmd(env),
		newCaptureCmd(env),
		newPlanCmd(env),
		newApplyCmd(env),
		newConfirmCmd(env),
		newExtendCmd(env),
		newRollbackCmd(env),
		newStatusCmd(env),
		newVerifyCmd(env),
		newLintCmd(env),
		newExplainCmd(env),
		newLSPCmd(env),
		newMCPCmd(env),
		newCalcCmd(env),
		newLabCmd(env),
		newWeblogCmd(env),
		newHistoryCmd(env),
		newReportCmd(env),
		newExportCmd(env),
		newFleetCmd(env),
		newCanaryCmd(env),
		newTrafficCmd(env),
		newVersionCmd(env),
		newHostsTopic(),
	}
}
