package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/plan"
)

// guideFile is a file that is put beside a plan.
type guideFile struct {
	kind     conffile.Kind // "" for formats that hold several kinds
	entries  []conffile.Entry
	rejects  []rejected
	problems []lint.Problem
	// left are the lines that set something which is no setting of the
	// catalog, with what they do, by their line.
	left map[int]string
}

// rejected is a line that the system does not read.
type rejected struct {
	line         int
	text, reason string
}

// readGuide reads a configuration file or the tunables of a
// pfSense or OPNsense configuration, and what lint says about its lines.
func readGuide(c *catalog.Catalog, p plan.Plan, name, text string) (guideFile, error) {
	if strings.Contains(text, "<tunable>") {
		g, err := readTunables(text)
		if err != nil {
			return g, fmt.Errorf("%s: %w", name, err)
		}
		g.judge(c, p, conffile.Sysctl, asSysctl(g.entries))
		// The appliance itself gives each tunable to the loader or to sysctl.
		g.problems = slices.DeleteFunc(g.problems, func(pr lint.Problem) bool {
			return slices.Contains([]string{"wrong-file", "read-only", "needs"}, pr.Code)
		})
		return g, nil
	}
	kind := conffile.Detect(name, []byte(text)).Kind
	if kind == "" && strings.HasPrefix(strings.TrimSpace(text), "options ") {
		kind = conffile.Modprobe
	}
	if kind == "" {
		return guideFile{}, fmt.Errorf("%s: not a configuration file that wirerate reads", name)
	}
	file, err := conffile.Parse(kind, conffile.System(p.System), name, []byte(text))
	if err != nil {
		return guideFile{}, err
	}
	g := guideFile{kind: kind, entries: file.Entries}
	for _, r := range file.Rejects {
		g.rejects = append(g.rejects, rejected{r.Line, strings.TrimSpace(text[r.Span.Start:r.Span.End]), r.Reason})
	}
	if kind == conffile.Tuned {
		g.kind = "" // it holds settings of several kinds
		g.leaveTuned()
	}
	g.lint(c, p, name, text, kind)
	return g, nil
}

// lint adds what lint says, on the plan's system and machine.
func (g *guideFile) lint(c *catalog.Catalog, p plan.Plan, name, text string, kind conffile.Kind) {
	driver, _ := p.Inputs["driver"].(string)
	opt := lint.Options{System: p.System, Version: p.Release, Kind: kind, Role: p.Role, Driver: driver}
	machine := catalog.Inputs{}
	for _, input := range []string{"memory", "page", "cores"} {
		if v, ok := p.Inputs[input]; ok {
			machine[input] = v
		}
	}
	if len(machine) == 3 {
		opt.Machine = &lint.Machine{Inputs: machine}
	}
	g.problems = append(g.problems, lint.Run(c, []lint.Input{{Path: name, Text: text}}, opt).Problems...)
}

func (g *guideFile) judge(c *catalog.Catalog, p plan.Plan, kind conffile.Kind, text string) {
	g.lint(c, p, "sysctl.conf", text, kind)
}

// asSysctl writes the sysctls among the entries as a sysctl.conf with the
// lines where they are in the file.
func asSysctl(entries []conffile.Entry) string {
	var b strings.Builder
	at := 1
	for _, e := range entries {
		if strings.ContainsAny(e.Name, "/:") || e.Value == "default" || e.Line < at {
			continue
		}
		b.WriteString(strings.Repeat("\n", e.Line-at))
		b.WriteString(e.Name + "=" + e.Value + "\n")
		at = e.Line + 1
	}
	return b.String()
}

// readTunables reads the tunables of pfSense's and OPNsense's config.xml, as
// the whole file or its sysctl section alone: items with tunable and value.
func readTunables(text string) (guideFile, error) {
	g := guideFile{left: map[int]string{}}
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.Strict = false
	var element, name, value string
	line := 0
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return g, nil
		}
		if err != nil {
			return g, fmt.Errorf("tunables: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			element = t.Name.Local
			if element == "item" {
				name, value = "", ""
			}
			if element == "tunable" {
				line, _ = dec.InputPos()
			}
		case xml.CharData:
			switch word := strings.TrimSpace(string(t)); {
			case word == "":
			case element == "tunable":
				name = word
			case element == "value":
				value = word
			}
		case xml.EndElement:
			if t.Name.Local == "item" && name != "" {
				g.entries = append(g.entries, conffile.Entry{Line: line, Key: name, Name: name, Value: value})
				if value == "default" {
					g.left[line] = "the appliance keeps its own default"
				}
			}
			element = ""
		}
	}
}

// leaveTuned says what the options of a TuneD profile do that are no settings.
func (g *guideFile) leaveTuned() {
	g.left = map[int]string{}
	for i := range g.entries {
		e := &g.entries[i]
		e.Iface = "" // compared with the plan's setting of any interface
		option, own := strings.CutPrefix(e.Name, "tuned:")
		section, _, _ := strings.Cut(option, "/")
		plugin, _, _ := strings.Cut(section, "_")
		switch {
		case !own && e.Name == e.Key && strings.HasPrefix(e.Name, "/sys/"):
			g.left[e.Line] = "TuneD writes this file of /sys"
		case strings.HasPrefix(e.Name, "cmdline:"):
			g.left[e.Line] = "TuneD's bootloader plug-in puts it on the kernel's command line"
		case !own:
		case option == "main/include":
			g.left[e.Line] = "that profile is not read: compare its file too"
		case section == "variables":
			g.left[e.Line] = "a variable of the profile, which other lines use"
		default:
			g.left[e.Line] = "an option of TuneD's " + plugin + " plug-in"
		}
		if own {
			e.Name = option
		}
	}
}
