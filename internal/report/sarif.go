package report

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/lint"
)

// codePage is the page that describes the codes, up to the code.
const codePage = "https://github.com/wirerate/wirerate/blob/main/docs/lint.md#"

// SARIF 2.1.0 (OASIS, March 2020), as much of it as lint needs.
type (
	// SARIF is a log with one run.
	SARIF struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		FullDescription      sarifText          `json:"fullDescription"`
		Help                 sarifText          `json:"help"`
		HelpURI              string             `json:"helpUri"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"`
	}
)

// LintSARIF returns the result as a SARIF log. Columns count Unicode characters.
func LintSARIF(r *lint.Result, version string) SARIF {
	driver := sarifDriver{Name: "wirerate", Version: version, InformationURI: "https://github.com/wirerate/wirerate"}
	codes := lint.Codes()
	for _, c := range codes {
		driver.Rules = append(driver.Rules, sarifRule{ID: c.ID, ShortDescription: sarifText{c.Title},
			FullDescription: sarifText{c.Explanation},
			Help:            sarifText{"wirerate explain " + c.ID}, HelpURI: codePage + c.ID,
			DefaultConfiguration: sarifConfiguration{level(c.Severity)}})
	}
	results := []sarifResult{}
	for _, p := range r.Problems {
		text := p.Message
		if p.Because != "" {
			text += ". " + p.Because
		}
		start := 1 + utf8.RuneCountInString(p.Text[:min(p.Column-1, len(p.Text))])
		end := start + utf8.RuneCountInString(p.Text[min(p.Column-1, len(p.Text)):min(p.Column-1+p.Width, len(p.Text))])
		results = append(results, sarifResult{RuleID: p.Code, RuleIndex: slices.IndexFunc(codes,
			func(c lint.Code) bool { return c.ID == p.Code }),
			Level: level(p.Severity), Message: sarifText{text}, Locations: []sarifLocation{{sarifPhysical{
				ArtifactLocation: sarifArtifact{fileURI(p.File)},
				Region:           sarifRegion{StartLine: p.Line, StartColumn: start, EndColumn: max(end, start+1)}}}}})
	}
	return SARIF{Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: results}}}
}

// level is SARIF's word for a severity.
func level(s lint.Severity) string {
	if s == lint.Info {
		return "note"
	}
	return string(s)
}

// fileURI returns a path as a URI reference.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
