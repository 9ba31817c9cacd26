package plan

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// File is a configuration file in a system's own format.
type File struct {
	Name    string // in the output folder
	Install string // where it belongs on the target, in words
	Content string
	// Path is where it is installed; empty for a file that is only shown.
	Path string
	Mode fs.FileMode
	// Format is conffile's kind of a file into which Entries are merged when
	// it is there already; without entries the file is wirerate's own.
	Format  string
	Entries []Entry
	// Now marks a file for the next boot alone, which apply writes.
	Now bool
}

// Entry is one assignment of a file.
type Entry struct {
	Key, Value string
	Text       string // the line with its comment
}

// NativeFiles writes the plan's changes in the system's own formats, commented
// line by line. keep decides about each setting; what it refuses is listed as
// a comment with its reason.
func NativeFiles(p Plan, keep func(setting string) (bool, string)) []File {
	var files []File
	for _, place := range sysctlPlaces(p.System) {
		var body strings.Builder
		for _, ch := range p.Changes {
			if ch.Belongs != place.belongs {
				continue
			}
			ok, why := keep(ch.Setting)
			body.WriteString(place.entry(ch, ok, why))
		}
		if body.Len() > 0 {
			files = append(files, File{Name: place.name, Install: place.install, Content: header(p, place) + body.String()})
		}
	}
	return files
}

// place is one kind of file.
type place struct {
	belongs, name, install, load string
	assign                       string // format of name and value
}

func sysctlPlaces(s catalog.System) []place {
	const sysctl = "%s=%s\n"
	switch s {
	case catalog.Linux:
		return []place{{"sysctl", "90-wirerate.conf", "/etc/sysctl.d/90-wirerate.conf", "sysctl --system", "%s = %s\n"}}
	case catalog.FreeBSD:
		return []place{
			{"sysctl", "sysctl.conf", "/etc/sysctl.conf (append)", "service sysctl restart", sysctl},
			{"loader", "loader.conf", "/boot/loader.conf (append)", "a reboot", "%s=\"%s\"\n"},
		}
	}
	return []place{{"sysctl", "sysctl.conf", "/etc/sysctl.conf (append)", "a reboot, or sysctl for each line", sysctl}}
}

func header(p Plan, pl place) string {
	return fmt.Sprintf("# wirerate plan: role %s, path %s, %s %s\n# Install as %s; loaded by: %s\n", p.Role, p.Path, p.System, p.Release, pl.install, pl.load)
}

func (pl place) entry(ch Change, keep bool, why string) string {
	var b strings.Builder
	b.WriteString("\n" + comment(ch.Does))
	def := ch.Default
	if def == "" {
		def = "depends on the machine"
	}
	b.WriteString(comment(fmt.Sprintf("Default: %s. Before: %s. Evidence: %s.", def, shownValue(ch.From), ch.Evidence)))
	b.WriteString(comment(ch.Because + " " + ch.Formula + " = " + ch.Working + " = " + ch.To))
	if ch.Capped != "" {
		b.WriteString(comment("Capped: " + ch.Capped))
	}
	if ch.Risk != "" {
		b.WriteString(comment("Risk: " + ch.Risk))
	}
	line := fmt.Sprintf(pl.assign, ch.Setting, ch.To)
	if keep {
		return b.String() + line
	}
	return b.String() + comment("Not set: "+why) + "#" + line
}

func shownValue(v string) string {
	if v == "" {
		return "not known"
	}
	return v
}

const commentWidth = 100

// comment wraps text into comment lines.
func comment(text string) string {
	var b strings.Builder
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}
