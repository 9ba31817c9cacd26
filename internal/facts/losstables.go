package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// unitWord is what stands behind a number in a column of its own.
var unitWord = regexp.MustCompile(`^(?:[KMGT]?i?[Bb](?:ps|/s|it/s)?|pps|%)$`)

// wideGap stands between columns whose numbers have spaces between their thousands, as those of RouterOS do.
var (
	wideGap   = regexp.MustCompile(`\s{2,}`)
	thousands = regexp.MustCompile(`\S\s{2,}\d{1,3}(?: \d{3})+(?:\s|$)`)
	flagField = regexp.MustCompile(`^(?:\d{1,4}|[A-Z]{1,4}|\d{1,4} +[A-Z]{1,4})$`)
)

// columnsOf are the fields of a row, numbers with their units, without the number of the row and its flags where the table
// is numbered.
func columnsOf(line string, numbered bool) (out []string) {
	fields := strings.Fields(line)
	if thousands.MatchString(line) {
		fields = strings.Split(wideGap.ReplaceAllString(strings.TrimSpace(line), "\t"), "\t")
	}
	for numbered && len(fields) > 1 && flagField.MatchString(fields[0]) {
		fields = fields[1:]
	}
	for _, field := range fields {
		if len(out) > 0 && unitWord.MatchString(field) {
			out[len(out)-1] += field
		} else {
			out = append(out, field)
		}
	}
	return out
}

// tableHead are the names of the columns of a table that counts packets and losses, or damaged frames, nil of any other line.
func tableHead(line string) []string {
	const least = 4
	names, loss, total, faults := strings.Fields(line), false, false, 0
	if len(names) < least || strings.ContainsAny(line, "0123456789:=") {
		return nil
	}
	for _, name := range names {
		words := strings.ToLower(wordBreak.ReplaceAllString(name, "$1 $2"))
		loss, total = loss || lossWords.MatchString(words), total || totalWords.MatchString(words)
		if portFaults.MatchString(words) {
			faults++
		}
	}
	switch {
	case loss && total:
		return names
	case faults < 3:
		return nil
	}
	for i, name := range names[1:] {
		if !portFaults.MatchString(strings.ToLower(wordBreak.ReplaceAllString(name, "$1 $2"))) {
			names[1+i] = "-" // a sum of the others
		}
	}
	return names
}

// portFaults are the columns of a switch's table of damaged frames, which has none for those that are well.
var portFaults = regexp.MustCompile(`^(?:(?:fcs|crc|align(?:ment)?|symbol|rcv|xmit)(?: errs?| errors?)?|runts?|giants?|undersized?|oversized?|jabbers?)$`)

// rowOf are the counters of a row below the names of its columns; the first column is what they are of.
func rowOf(names []string, line string, number int) (out []namedCount) {
	numbered := len(names) > 0 && names[0] == "#"
	if numbered {
		names = names[1:]
	}
	fields := columnsOf(line, numbered)
	if len(names) == 0 || len(names) != len(fields) || !notDigits(fields[0]) {
		return nil
	}
	for k, name := range names[1:] {
		for _, c := range countsIn(name+": "+fields[k+1], number) {
			c.scope = fields[0]
			out = append(out, c)
		}
	}
	return out
}

// waysHead is the head of a table that has a row for each counter and a column for each direction: "Statistics  RX  TX".
var waysHead = regexp.MustCompile(`(?i)^\s*(?:\w+ )?\s*(rx|tx|receive|transmit|input|output)\s+(rx|tx|receive|transmit|input|output)(?:\s+total)?\s*$`)

// waysRow are the counters of a row of such a table.
func waysRow(ways []string, line string, number int) (out []namedCount) {
	m := twoCounts.FindStringSubmatch(line)
	if ways == nil || m == nil {
		return nil
	}
	for k, way := range ways {
		out = append(out, countsIn(way+" "+m[1]+": "+m[2+k], number)...)
	}
	return out
}

var twoCounts = regexp.MustCompile(`^\s*([A-Za-z][\w/ -]*?)\s{2,}(\d+)\s+(\d+)(?:\s+\d+)?\s*$`)
