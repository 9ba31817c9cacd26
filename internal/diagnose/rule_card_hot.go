package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// cardHot finds cards that stopped since they were too hot.
func cardHot() Rule {
	return Rule{
		ID: "card-too-hot", Title: "A card overheated", Needs: []string{"messages"}, Severity: Critical,
		Because: "10GBASE-T cards need airflow: when they overheat, they throttle or shut down.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooHot)
			if n == 0 {
				return nil
			}
			name := tooHot.FindStringSubmatch(lines[0].Text)[1]
			if name == "" {
				name = cardOf(lines...)
			}
			found := do("give the card airflow (a fan) or another slot; check the optic or cable in it",
				one(name, lines, "its driver reported overheating (%s)", counted(n, "line")))
			if warnsOfHeat.MatchString(lines[0].Text) {
				found = with(Warning, found)
			}
			return found
		},
		Fires: freebsdExample("dmesg", "ix0: CRITICAL: OVER TEMP!! PHY IS SHUT DOWN!!\n"),
		Quiet: freebsdExample("dmesg", "ix0: link state changed to UP\n"),
	}
}

// tooHot is what ix(4), ixgbe and mlx5 (core/events.c) say; warnsOfHeat comes while the card still works.
var (
	tooHot = regexp.MustCompile(`(?:\b([a-z]+\d+): .*)?(?:OVER TEMP|because it has over heated|` +
		`High temperature on sensors|Port module event.*High Temperature)`)
	warnsOfHeat = regexp.MustCompile(`High temperature on sensors`)
)
