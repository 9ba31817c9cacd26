package conffile

import (
	"path"
	"slices"
	"strings"
)

// Directories of Linux of which only files with the ending .conf are read, and files of
// options of modules that nothing reads any more.
var (
	confOnly = []string{"/sysctl.d/", "/modprobe.d/", "/modules-load.d/", "/security/limits.d/"}
	obsolete = []string{"/etc/modprobe.conf", "/etc/modules.conf", "/etc/conf.modules"}
	// aside are endings of files that are not meant to be read where they are.
	aside = []string{".bak", ".backup", ".disabled", ".new", ".old", ".orig", ".save", ".tmp", ".temp", ".alias", "~"}
)

// unreadFile returns the name by which the content of a file is judged that the system does
// not read, and why it does not; "" for every other file.
func unreadFile(file string) (as, reason, because string) {
	dir, base := path.Split(file)
	switch {
	case strings.Contains(file, "$"):
	case slices.Contains(obsolete, file):
		return "/etc/modprobe.d/" + strings.TrimSuffix(base, ".conf") + ".conf",
			"the system does not read " + file + "; write the lines to a file in /etc/modprobe.d that ends in .conf",
			"kmod, which has taken the place of module-init-tools, reads the files of modprobe.d alone."
	case !strings.HasPrefix(file, "/") || base == "" || base == "README" || strings.HasSuffix(base, ".conf") ||
		slices.ContainsFunc(aside, func(end string) bool { return strings.HasSuffix(base, end) }):
	case slices.ContainsFunc(confOnly, func(d string) bool { return strings.HasSuffix(dir, d) }):
		return file + ".conf", "the system does not read " + file + ", since its name does not end in .conf",
			"Of " + strings.TrimSuffix(dir, "/") + " only the files whose names end in .conf are read."
	}
	return "", "", ""
}

// readAs returns the path by which a file is judged that a script writes, and reports once
// that the system does not read it.
func (s *scanner) readAs(file string, line int, span Span) string {
	as, reason, because := unreadFile(file)
	if as == "" || s.system != "" && s.system != Linux {
		return file
	}
	if span.End > span.Start && !s.stopped && !s.ignored[file] && len(s.ignored) < maxVariables {
		if s.ignored == nil {
			s.ignored = map[string]bool{}
		}
		s.ignored[strings.Clone(file)] = true
		s.rejected(Reject{Line: line, Span: span, Reason: reason, Because: because, Idle: true})
	}
	return as
}
