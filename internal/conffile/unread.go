package conffile

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
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

// bootFiles are the paths of files of FreeBSD that are written into the wrong folder, or with a slip in the name.
var bootFiles = []string{"/boot/loader.conf", "/boot/loader.conf.local", "/etc/sysctl.conf", "/etc/sysctl.conf.local"}

// misplacedFile is unreadFile for the files of FreeBSD.
func misplacedFile(file string) (as, reason, because string) {
	dir, base := path.Split(file)
	if dir != "/etc/" && dir != "/boot/" {
		return "", "", ""
	}
	for _, right := range bootFiles {
		if _, name := path.Split(right); file != right && (base == name || spelling.Slip(base, name)) {
			return right, "the system does not read " + file + "; write the lines to " + right,
				"No program of FreeBSD reads a file of this name in " + strings.TrimSuffix(dir, "/") + "."
		}
	}
	return "", "", ""
}

// readAs returns the path by which a file is judged that a script writes, and reports once
// that the system does not read it.
func (s *scanner) readAs(file string, line int, span Span) string {
	unread := unreadFile
	if s.system == FreeBSD {
		unread = misplacedFile
	}
	as, reason, because := unread(file)
	if as == "" || s.system == OpenBSD {
		return file
	}
	if span.End > span.Start && !s.stopped && !s.ignored[file] && len(s.ignored) < maxVariables {
		if s.ignored == nil {
			s.ignored = map[string]bool{}
		}
		s.ignored[strings.Clone(file)] = true
		s.rejected(Reject{Line: line, Span: span, Reason: reason, Because: because, Idle: true, certain: s.system == FreeBSD})
	}
	return as
}
