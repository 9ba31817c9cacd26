package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// tunnelReplay finds packets of a tunnel that came too late or twice.
func tunnelReplay() Rule {
	return Rule{
		ID: "tunnel-replay", Title: "A tunnel dropped reordered or duplicate packets", Needs: []string{"messages"},
		Severity: Warning,
		Because: "OpenVPN drops packets that it has seen already or that are more than 64 behind the newest: multi-link " +
			"paths, Wi-Fi and some mobile networks reorder or duplicate packets. TCP inside the tunnel sees this as loss.",
		Confirm: "The messages coincide with the slowness; with a larger window they become rare.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, replayed)
			if n == 0 {
				return nil
			}
			found := do("enlarge the window at the end that logs it: replay-window 512 60 (mute-replay-warnings only hides the "+
				"messages)", one("openvpn", lines, "reordered or duplicate packets were dropped (%s)", counted(n, "message")))
			if n < manyReplays {
				found = with(Info, found)
			}
			return found
		},
		Fires: linuxExample("dmesg", "Tue Apr 19 12:35:57 2016 Authenticate/Decrypt packet error: bad packet ID "+
			"(may be a replay): [ #19 ]\n"),
		Quiet: linuxExample("dmesg", "Tue Apr 19 12:35:57 2016 Initialization Sequence Completed\n"),
	}
}

// manyReplays is from how many messages on the path does it often: single packets come twice on any.
const manyReplays = 3

var replayed = regexp.MustCompile(`error: bad packet ID \(may be a replay\)`)
