// Package report writes finished values for people: text for the terminal, one
// offline HTML file, Markdown and SVG.
package report

import "github.com/wirerate/wirerate/internal/experiment"

// What experiments find, by the short names of this package.
type (
	Result      = experiment.Result
	Arm         = experiment.ArmResult
	Run         = experiment.Run
	Metrics     = experiment.Metrics
	Effect      = experiment.Effect
	Share       = experiment.Share
	Comparison  = experiment.Comparison
	Beside      = experiment.Beside
	Noise       = experiment.Noise
	Design      = experiment.Design
	Attribution = experiment.Attribution
	Path        = experiment.Path
	Host        = experiment.Host
	Emulator    = experiment.Emulator
	Set         = experiment.Set
)
