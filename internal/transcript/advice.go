package transcript

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// What a post tells others to set is not what is set.

// advice tells a sentence that asks to set something, ownState one that says what somebody has.
var (
	advice = regexp.MustCompile(`(?i)\b(?:add|append|put|insert|paste|set|change|modify|edit|tune|tuning|tweak|` +
		`adjust|increase|raise|` +
		`enlarge|try|apply|use|configure|optimi[sz]e|recommend(?:ed|ations?)?|suggest(?:ed)?|should|could|` +
		`consider|needs?|` +
		`following (?:lines|settings|parameters|values)|best practices?|solution|fix|workaround|example|told|` +
		`advised?|claims?)\b|加入|添加|` +
		`修改|建议|推荐`)
	ownState = regexp.MustCompile(`(?i)\b(?:my|mine|our|current(?:ly)?|present|actual|existing|already|now|i|i've|` +
		`we|we've|` +
		`output|shows?|showed|is|are|was|were|has|have|default)\b`)
	orders = regexp.MustCompile(`(?i)^\W*(?:then |and |also |next,? |now,? |please |to fix\b.* |` +
		`finally,? )?(?:add|append|put|insert|paste|set|change|modify|edit|` +
		`tune|adjust|increase|raise|enlarge|try|apply|use|configure|optimi[sz]e|recommended|consider)\b`)
)

// advised reports whether the sentence before a setting, with other settings and comments between at most, tells readers
// to set it; lead is the sentence before these lines.
func advised(lead string, before []string) bool {
	const most = 60
	blank := 0
	for i := len(before) - 1; i >= -1 && i >= len(before)-most; i-- {
		line := strings.TrimSpace(lead)
		if i >= 0 {
			line = strings.TrimSpace(before[i])
		}
		_, fence := unmarked(line)
		comment := strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";")
		switch {
		case line == "" || fence:
			if blank++; blank > 3 {
				return false
			}
			continue
		case comment && advice.MatchString(line) && !ownState.MatchString(line):
			return true
		case comment, settingLine.MatchString(line):
			continue
		}
		return orders.MatchString(line) || advice.MatchString(line) && !ownState.MatchString(line)
	}
	return false
}

// driverCounter is a sysctl that a driver counts in, which nobody sets.
var driverCounter = regexp.MustCompile(`^\s*dev\.[a-z]\w*\.\d+\.(?:\w*stats?\.|.*(?:cidx|pidx|credits|ring_state|_(?:pkts|packets|bytes|` +
	`drops|cleaned|processed))\b)`)

// settingLine is a sysctl with its value.
var settingLine = regexp.MustCompile(`^(?:net|kern|hw|dev|vm|vfs|fs|kernel)\.[a-z0-9_.]+ ?[=:]`)

// withoutCutEnd leaves out the last line of a text that breaks off within a setting of three numbers: what is left of the
// last number is below the one before it.
func withoutCutEnd(s string) string {
	begin := strings.LastIndexByte(s, '\n') + 1
	m := threeNumbers.FindStringSubmatch(s[begin:])
	if m == nil || len(m[2]) > len(m[1]) || len(m[2]) == len(m[1]) && m[2] >= m[1] {
		return s
	}
	return s[:begin]
}

// threeNumbers are the minimum, the default and the maximum of a buffer.
var threeNumbers = regexp.MustCompile(`^\s*net\.\S+(?: ?= ?|: ?)\d+\s+(\d+)\s+(\d+)$`)

// consoleLine is a line that the kernel printed on the terminal, between those of a command.
var consoleLine = regexp.MustCompile(`^\[ *\d{1,9}\.\d{6}\] \S`)

// takeConsole keeps what the kernel printed on the terminal while a command ran.
func (o outputs) takeConsole(part section) {
	if typedOutput(part.command) == "dmesg" {
		return
	}
	var kept scattered
	for i, line := range part.lines {
		if consoleLine.MatchString(line) {
			kept.lines, kept.at = append(kept.lines, line), append(kept.at, part.first+i)
		}
	}
	if name := typedOutput(part.command); name != "" && len(kept.lines) > 0 {
		o.add("dmesg", "", strings.Join(kept.lines, "\n"), kept.at)
	}
}
