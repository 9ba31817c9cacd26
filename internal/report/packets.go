package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/packets"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

// PacketsText writes what a capture says, the verdict first, in lines of at
// most width columns.
func PacketsText(w io.Writer, a packets.Analysis, width int) {
	fmt.Fprint(w, terminal.Wrap(width, "", "  ", terminal.Clean(a.Verdict)))
	fmt.Fprint(w, "\n", terminal.Wrap(width, "", "  ", fmt.Sprintf("%s: %s in %s, %s", terminal.Clean(a.Capture),
		plural(int(a.Packets), "packet", "packets"), units.Duration(inSeconds(a.Duration)),
		units.Bytes(a.Bytes).String())))
	for _, s := range captureNotes(a) {
		fmt.Fprint(w, terminal.Wrap(width, "  ", "  ", s))
	}
	if a.Both != nil {
		packetsBoth(w, a.Both, width)
	}
	const shown = 5
	for i, l := range a.Flows {
		if i == shown {
			break
		}
		packetsFlow(w, l, width, i == 0)
	}
	if more := len(a.Flows) + a.More - shown; more > 0 {
		fmt.Fprintf(w, "\n%s with less data; --json lists up to %d\n", plural(more, "more flow", "more flows"),
			packets.MaxListed)
	}
}

func captureNotes(a packets.Analysis) []string {
	var notes []string
	if a.Drops > 0 {
		notes = append(notes, fmt.Sprintf("the capture itself dropped %d packets: losses may be its own", a.Drops))
	}
	if a.SetBack > 0 {
		notes = append(notes, fmt.Sprintf("the capture's clock was set back %s: times are counted on from there, and what "+
			"passed meanwhile is not known", plural(int(a.SetBack), "time", "times")))
	}
	if a.Truncated {
		notes = append(notes, "the file ends within a packet, or is damaged: it is read up to there")
	}
	if a.Unread > 0 {
		note := "neither TCP nor UDP over IP: " + plural(int(a.Unread), "packet", "packets")
		if len(a.Flows) > 0 {
			note += ": " + a.Others()
		}
		notes = append(notes, note)
	}
	if a.Left > 0 {
		notes = append(notes, fmt.Sprintf("%d flows were given up while reading, the longest silent ones: too many", a.Left))
	}
	return notes
}

func packetsFlow(w io.Writer, l packets.Life, width int, first bool) {
	fmt.Fprint(w, "\n", terminal.Wrap(width, "", "  ", fmt.Sprintf("%s > %s: %s in %s, %s", l.From, l.To,
		units.Bytes(l.Bytes).String(), units.Duration(inSeconds(l.Duration)), units.Rate(l.Goodput).String())))
	if !first {
		fmt.Fprint(w, terminal.Wrap(width, "  ", "  ", l.Verdict))
	}
	if l.Protocol == "udp" {
		return
	}
	if len(l.Limits) > 0 {
		var held []string
		for _, h := range l.Limits {
			if h.Share >= 0.01 {
				held = append(held, fmt.Sprintf("%s %.0f%%", h.Limit, h.Share*100))
			}
		}
		fmt.Fprint(w, terminal.Wrap(width, "  limits    ", "            ", strings.Join(held, ", ")))
	}
	fmt.Fprint(w, terminal.Wrap(width, "  path      ", "            ", strings.Join(pathFacts(l), "; ")))
	for i, e := range l.Evidence {
		if i == 4 {
			break
		}
		name := "            "
		if i == 0 {
			name = "  evidence  "
		}
		at := inSeconds(e.Seconds)
		fmt.Fprint(w, terminal.Wrap(width, name, "            ", fmt.Sprintf("packet %d at %s: %s", e.Number,
			units.Duration(at), e.What)))
	}
	for i, f := range l.Fix {
		name := "            "
		if i == 0 {
			name = "  remedy    "
		}
		fmt.Fprint(w, terminal.Wrap(width, name, "              ", remedy(f)))
	}
	for _, n := range l.Notes {
		fmt.Fprint(w, terminal.Wrap(width, "  note      ", "            ", n))
	}
}

// pathFacts are what a connection's packets say of its path and its ends.
func pathFacts(l packets.Life) []string {
	var path []string
	if l.RTT != nil {
		path = append(path, fmt.Sprintf("RTT %s ms at least, %s ms median, %s ms at most",
			units.Digits(l.RTT.Min, 3), units.Digits(l.RTT.Median, 3),
			units.Digits(l.RTT.Longest, 3)))
	}
	path = append(path, fmt.Sprintf("%d of %d segments sent again (%d fast, %d timeouts, %d tail probes)",
		l.Again, l.Segments, l.Fast, l.Timer, l.Tail),
		fmt.Sprintf("at most %s under way, window %s", units.Bytes(l.Flight).String(), units.Bytes(l.Window).String()),
		"captured at the "+strings.Replace(l.Vantage, "unknown", "?", 1))
	if l.Vantage == "between" || l.Vantage == "unknown" {
		path[len(path)-1] = "captured " + strings.Replace(l.Vantage, "unknown", "at an unknown place", 1)
	}
	return path
}

type endLine struct{ Label, Words string }

// packetsBoth writes what two captures tell together.
func packetsBoth(w io.Writer, b *packets.Both, width int) {
	fmt.Fprint(w, "\n", terminal.Wrap(width, "", "  ", fmt.Sprintf("both ends of %s > %s:", b.From, b.To)))
	for _, l := range bothEnds(b) {
		fmt.Fprint(w, terminal.Wrap(width, fmt.Sprintf("  %-10s", l.Label), "            ", l.Words))
	}
}

// bothEnds are the lines of what two captures tell together.
func bothEnds(b *packets.Both) []endLine {
	all := []endLine{
		{"sender", terminal.Clean(b.Sender) + " is nearer the sender, " + terminal.Clean(b.Receiver) +
			" nearer the receiver"},
		{"losses", fmt.Sprintf("%s lost between the captures, %d beyond the receiver's",
			plural(int(b.Between), "segment", "segments"), b.Beyond)},
	}
	if b.Missed > 0 {
		all = append(all, endLine{"missed", fmt.Sprintf("%s not in the receiver's capture, but never retransmitted: "+
			"they arrived, and the capture dropped them", plural(int(b.Missed), "segment", "segments"))})
	}
	if b.AcksLost > 0 {
		all = append(all, endLine{"ACKs lost", fmt.Sprintf("%d of %d acknowledgements are not in the sender's capture", b.AcksLost, b.Acks)})
	}
	if b.Forward != nil {
		all = append(all, endLine{"data", delayText(b.Forward)})
	}
	if b.Back != nil {
		all = append(all, endLine{"back", delayText(b.Back)})
	}
	if b.Offset.Known {
		all = append(all, endLine{"clocks", fmt.Sprintf("%s, within %s: the least delays are taken to be equal both ways",
			clockWords(b.Offset.Seconds), units.Duration(inSeconds(b.Offset.Within/1e3)))})
	}
	for _, c := range b.Changed {
		all = append(all, endLine{"changed", fmt.Sprintf("%s: %s %s became %s", c.Packet, c.What, c.Before, c.Behind)})
	}
	if b.Matched == 0 {
		all = append(all, endLine{"note", "no segment is in both: the captures are of different times"})
	}
	return all
}

// clockWords say how far the receiver's clock is off the sender's.
func clockWords(ahead float64) string {
	if ahead < 0 {
		return "the receiver's clock is " + units.Duration(inSeconds(-ahead)) + " behind the sender's"
	}
	return "the receiver's clock is " + units.Duration(inSeconds(ahead)) + " ahead of the sender's"
}

func delayText(d *packets.Delay) string {
	return fmt.Sprintf("%s ms at least, %s ms median, %s ms at most, one way",
		units.Digits(d.Min, 3), units.Digits(d.Median, 3), units.Digits(d.Longest, 3))
}

func remedy(f packets.Fix) string {
	said := f.Action
	if f.Setting != "" {
		said = f.Setting
		if f.Value != "" {
			said += " = " + f.Value
		}
		if f.Action != "" {
			said += ", " + f.Action
		}
	}
	on := f.On
	if f.OS != "" {
		on += " (" + system.System(f.OS).Title() + ")"
	}
	return on + ": " + said
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
