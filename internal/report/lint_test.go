package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/lint"
)

func TestLintText(t *testing.T) {
	text := func(res *lint.Result, look LintLook) string {
		var b strings.Builder
		if err := LintText(&b, res.Problems, look); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	res := linted(t, "/etc/sysctl.conf", "\tnet.ipv4.tcp_fin_timeout = 30s # \x1b[31m\n")
	want := `/etc/sysctl.conf:1:29: error: net.ipv4.tcp_fin_timeout takes a number: "30s" is not a whole number [bad-value]
    1 |  net.ipv4.tcp_fin_timeout = 30s # \x1b[31m
      |                             ^~~
      = The kernel refuses the value and keeps the old one.
/etc/sysctl.conf:1:29: info: the kernel is given the comment too: '#' begins one only at the start of a line [syntax]
    1 |  net.ipv4.tcp_fin_timeout = 30s # \x1b[31m
      |                             ^~~~~~~~~~~~~~
      = It reads the number and stops; behind a word, such as that of tcp_congestion_control, it refuses the whole.
`
	if diff := cmp.Diff(want, text(res, LintLook{})); diff != "" {
		t.Error(diff)
	}
	long := linted(t, "/etc/sysctl.conf", strings.Repeat(" ", 5000)+"net.ipv4.tcp_fin_timeout=x"+strings.Repeat(" ", 5000)+"\n")
	if got := text(long, LintLook{Colour: true}); len(got) == 0 || len(got) > 2000 {
		t.Errorf("%d bytes for one long line", len(got))
	}
	defaults := "net.ipv4.tcp_sack=1\nnet.ipv4.tcp_timestamps=1\n#\nnet.ipv4.tcp_window_scaling=1\n"
	res = linted(t, "a/sysctl.conf", defaults, "b/sysctl.conf", "net.ipv4.tcp_sack=1\n")
	short := text(res, LintLook{})
	if !strings.Contains(short, "a/sysctl.conf:1:19: info: 3 lines set what is the default: 1-2, 4 [same-as-default]") ||
		strings.Count(short, "[same-as-default]") != 2 {
		t.Errorf("defaults are not folded by file: %s", short)
	}
	if all := text(res, LintLook{Verbose: true}); strings.Count(all, "[same-as-default]") != 4 {
		t.Errorf("not each default is shown: %s", all)
	}
}

// TestLintForms reads the reports for CI servers back.
func TestLintForms(t *testing.T) {
	name := "a,b:c%/sysctl.conf"
	res := linted(t, name, "net.ipv4.tcp_fin_timeout = 30s\nnet.ipv4.tcp_fin_timeout = 30s\nnet.ipv4.tcp_tw_recycle=1\nnet.ipv4.tcp_sack=1\n",
		"clean/sysctl.conf", "net.core.rmem_max=67108864\n")
	var failing, infos int
	for _, p := range res.Problems {
		if p.Severity == lint.Info {
			infos++
		} else {
			failing++
		}
	}
	if failing < 3 || infos < 1 {
		t.Fatalf("%+v", res.Problems)
	}
	var b bytes.Buffer
	if err := LintGitHub(&b, res.Problems); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "::error file=a%2Cb%3Ac%25/sysctl.conf,line=1,col=28,title=wirerate bad-value::net.ipv4.tcp_fin_timeout takes") ||
		strings.Count(got, "\n") != failing+infos {
		t.Error(got)
	}
	prints := map[string]bool{}
	data, err := json.Marshal(LintGitLab(res.Problems))
	if err != nil {
		t.Fatal(err)
	}
	var issues []GitLabIssue
	if err := json.Unmarshal(data, &issues); err != nil || len(issues) != failing+infos {
		t.Errorf("%d issues, %v", len(issues), err)
	}
	for _, issue := range issues {
		if prints[issue.Fingerprint] || issue.Location.Path != name || issue.Location.Lines.Begin < 1 {
			t.Errorf("%+v", issue)
		}
		prints[issue.Fingerprint] = true
	}
	b.Reset()
	if err := LintCheckstyle(&b, res); err != nil {
		t.Fatal(err)
	}
	var style struct {
		Files []checkstyleFile `xml:"file"`
	}
	if err := xml.Unmarshal(b.Bytes(), &style); err != nil || len(style.Files) != 2 || style.Files[0].Name != name ||
		len(style.Files[0].Errors) != failing+infos || len(style.Files[1].Errors) != 0 {
		t.Errorf("%v %+v", err, style)
	}
	b.Reset()
	if err := LintJUnit(&b, res); err != nil {
		t.Fatal(err)
	}
	var units struct {
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &units); err != nil || units.Failures != failing || units.Tests != failing+infos+1 ||
		fmt.Sprint(units.Suites[1].Cases[0].Name) != "no problem" {
		t.Errorf("%v %+v", err, units)
	}
}
