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

// readGuide reads a configuration file, a TuneD profile, or the tunables of a
// pfSense or OPNsense configuration, and what lint says about its lines.
func readGuide(c *catalog.Catalog, p plan.Plan, name, text string) (guideFile, error) {
	if g, ok := readTuned(text); ok {
		g.judge(c, p, conffile.Sysctl, asSysctl(g.entries))
		return g, nil
	}
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
	g.lint(c, p, name, text, "")
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

// readTuned reads a TuneD profile: sysctls, what its net and disk sections set
// on their devices, files of /sys, and the rest as what its plug-ins do.
func readTuned(text string) (guideFile, bool) {
	if !strings.Contains(text, "[sysctl]") && !strings.Contains(text, "[main]") {
		return guideFile{}, false
	}
	g := guideFile{left: map[int]string{}}
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, value, assigned := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case !assigned:
			g.rejects = append(g.rejects, rejected{number, line, "not an assignment: no '=' on this line"})
		case key == "type" || key == "devices" || key == "summary" || key == "replace":
		default:
			g.tuned(number, section, key, value)
		}
	}
	return g, true
}

// tunedFiles are the files of /sys behind options of TuneD's plug-ins.
var tunedFiles = map[string]string{
	"vm/transparent_hugepages":  "/sys/kernel/mm/transparent_hugepage/enabled",
	"vm/transparent_hugepage":   "/sys/kernel/mm/transparent_hugepage/enabled",
	"cpu/governor":              "/sys/devices/system/cpu/*/cpufreq/scaling_governor",
	"disk/readahead":            "/sys/block/*/queue/read_ahead_kb",
	"net/nf_conntrack_hashsize": "net.netfilter.nf_conntrack_buckets",
}

// tuned adds what one option of a profile sets.
func (g *guideFile) tuned(line int, section, key, value string) {
	plugin, _, _ := strings.Cut(section, "_")
	entry := conffile.Entry{Line: line, Key: key, Name: section + "/" + key, Value: strings.TrimLeft(value, "<>")}
	switch {
	case section == "sysctl":
		entry.Name = strings.ReplaceAll(key, "/", ".")
	case section == "sysfs":
		entry.Name = key
		g.left[line] = "TuneD writes this file of /sys"
	case tunedFiles[plugin+"/"+key] != "":
		entry.Name = tunedFiles[plugin+"/"+key]
	case plugin == "net":
		if options := tunedNetEntries(line, key, value); len(options) > 0 {
			g.entries = append(g.entries, options...)
			return
		}
		g.left[line] = "an option of TuneD's net plug-in"
	case section == "main" && key == "include":
		g.left[line] = "that profile is not read: compare its file too"
	case section == "variables":
		g.left[line] = "a variable of the profile, which other lines use"
	default:
		g.left[line] = "an option of TuneD's " + plugin + " plug-in"
	}
	g.entries = append(g.entries, entry)
}

// tunedNetEntries are the settings of one option of TuneD's net plug-in: mtu,
// txqueuelen, or pairs of an ethtool name and its value.
func tunedNetEntries(line int, key, value string) []conffile.Entry {
	if key == "mtu" || key == "txqueuelen" {
		return []conffile.Entry{{Line: line, Key: key, Name: "link:" + key, Value: value}}
	}
	var entries []conffile.Entry
	words := strings.Fields(strings.ReplaceAll(value, ",", " "))
	for i := 0; i+1 < len(words); i += 2 {
		entries = append(entries, conffile.Entry{Line: line, Key: words[i], Name: "ethtool:" + key + "/" + words[i], Value: words[i+1]})
	}
	return entries
}
