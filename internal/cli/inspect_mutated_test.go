package cli

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/wirerate/wirerate/internal/diagnose"
)

// mutation is something that happens to an output between the terminal and the file that inspect is given. One that
// changes no content must change no finding either; one that loses content may lose findings, and must not invent any.
type mutation struct {
	name  string
	exact bool
	apply func(s string, r *rand.Rand) string
}

var mutations = []mutation{
	{"quoted", true, eachLine(func(line string) string { return "> " + line })},
	{"CRLF", true, eachLine(func(line string) string { return line + "\r" })},
	{"UTF-16", true, func(s string, _ *rand.Rand) string {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			out = binary.LittleEndian.AppendUint16(out, u)
		}
		return string(out)
	}},
	{"colours", true, eachLine(func(line string) string { return "\x1b[0m" + line + "\x1b[K" })},
	{"marked up", true, func(s string, _ *rand.Rand) string { return "[code]\n" + s + "[/code]\n" }},
	{"wrapped", false, eachLine(wrapped)},
	{"lines lost", false, func(s string, r *rand.Rand) string {
		return keepLines(s, func(string) bool { return r.IntN(5) > 0 })
	}},
	{"cut off", false, func(s string, r *rand.Rand) string { return s[:len(s)/4+r.IntN(len(s)*3/4)] }},
	{"begun late", false, func(s string, r *rand.Rand) string {
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(lines[r.IntN(len(lines)/2+1):], "")
	}},
	{"grepped", false, func(s string, r *rand.Rand) string {
		word := []string{"err", "drop", "rx", "tcp", "0", "eth", "miss"}[r.IntN(7)]
		return keepLines(s, func(line string) bool {
			return strings.Contains(line, word) || strings.ContainsAny(line, "$#%>")
		})
	}},
}

func eachLine(change func(string) string) func(string, *rand.Rand) string {
	return func(s string, _ *rand.Rand) string {
		lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		for i := range lines {
			lines[i] = change(lines[i])
		}
		return strings.Join(lines, "\n") + "\n"
	}
}

func keepLines(s string, keep func(string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if keep(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wrapped breaks a line as mail programs do: at the last space before column 72.
func wrapped(line string) string {
	out := ""
	for len(line) > 72 {
		at := strings.LastIndexByte(line[:72], ' ')
		if at <= 0 {
			break
		}
		out, line = out+line[:at]+"\n", line[at+1:]
	}
	return out + line
}

// instead are rules that say less exactly what one that needs more lines says.
var instead = map[string][]string{"aspm-loss": {"ring-drops"}, "ring-below-maximum": {"ring-drops", "receive-dropped"},
	"pcie-too-narrow": {"pcie-below-capability"}, "lro-on-router": {"setting-harmful"},
	"listen-overflow": {"syn-queue-overflow"}, "half-duplex": {"duplex-mismatch", "slow-link"},
	"duplex-mismatch":           {"slow-link", "link-errors"},
	"flow-control-mixed-speeds": {"slow-link"},
	"link-errors":               {"counted-losses"},
	"udp-buffer":                {"datagrams-lost"},
	"cpu-saturated":             {"core-saturated"}, // one processor alone is shown
	"ring-drops":                {"counted-losses"}, // by its name alone, without the heading that tells the card
	"receive-dropped":           {"counted-losses"},
	"one-receive-queue":         {"setting-harmful"}, "window-below-path": {"setting-harmful"}}

// toldByOnePart are posts in which words, a message or the last line alone keep the rest from being a finding: without
// them it is one.
var toldByOnePart = []string{"ix02-quoted-told.txt", "k46-none.txt", "ls15-none.txt", "p11-none.txt",
	"xc37-pmtu-black-hole.txt"}

// TestMutatedPosts mutates the posts and cases.
func TestMutatedPosts(t *testing.T) {
	posts, _ := filepath.Glob("testdata/posts/*.txt")
	cases, _ := filepath.Glob("testdata/cases/*.txt")
	for _, name := range append(posts, cases...) {
		c := readCase(t, name)
		h := fnv.New64a() // of the name: another post changes nothing for the others
		h.Write([]byte(filepath.Base(name)))
		n := int(h.Sum64() >> 33)
		if strings.Contains(c.session, "Content-Transfer-Encoding") {
			continue // a mail as it travels is not quoted line by line
		}
		wordy := slices.Contains(toldByOnePart, filepath.Base(name))
		whole := ruleNames(findingsIn(t, c))
		for m, how := range mutations {
			if (n+m)%2 > 0 || wordy && !how.exact {
				continue // half of them each, for the time it takes
			}
			r := rand.New(rand.NewPCG(uint64(n), uint64(m)))
			mutated := c
			mutated.session = how.apply(c.session, r)
			findings := findingsIn(t, mutated)
			found := ruleNames(findings)
			if how.exact && !slices.Equal(found, whole) {
				t.Errorf("%s, %s: %v, and whole %v", filepath.Base(name), how.name, found, whole)
			}
			for _, rule := range ruleNames(serious(findings)) {
				lesser := func(of string) bool { return slices.Contains(instead[of], rule) }
				if !slices.Contains(whole, rule) && !slices.ContainsFunc(whole, lesser) {
					t.Errorf("%s, %s: invents %s; whole %v\n%s", filepath.Base(name), how.name, rule, whole, evidenceOf(mutated, t, rule))
				}
			}
		}
	}
}

func evidenceOf(c postedCase, t *testing.T, rule string) string {
	for _, f := range findingsIn(t, c) {
		if f.Rule == rule {
			return fmt.Sprintf("\t%s: %s: %s %v", f.Severity, f.Subject, f.Summary, f.Evidence)
		}
	}
	return ""
}

// serious are findings that are no hints: where the packets of which some were lost are not shown, a loss is one.
func serious(found []diagnose.Finding) []diagnose.Finding {
	return slices.DeleteFunc(found, func(f diagnose.Finding) bool { return !f.Severity.AtLeast(diagnose.Warning) })
}

func ruleNames(found []diagnose.Finding) []string {
	var names []string
	for _, f := range found {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	slices.Sort(names)
	return names
}
