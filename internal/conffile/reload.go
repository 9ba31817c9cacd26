package conffile

import (
	"path"
	"slices"
	"strings"
)

// reload is what a script does with the files of sysctl: those below sysctl.d that
// it writes, and whether it has them read.
type reload struct {
	drop  string // the first of them
	quiet bool   // it writes /etc/sysctl.conf too, or has all files read
	read  []string
	bare  []word // sysctl -p without a file
}

// wrote remembers a file of sysctl's that a script writes. Debian's
// 99-sysctl.conf is a link to /etc/sysctl.conf.
func (r *reload) wrote(file string) {
	switch {
	case !strings.HasPrefix(file, "/etc/sysctl.d/") || path.Base(file) == "99-sysctl.conf" || strings.Contains(file, "$"):
		r.quiet = true
	case r.drop == "":
		r.drop = strings.Clone(file)
	}
}

// reloaders are programs that have every file read, at once or at a boot that follows.
var reloaders = []string{"systemctl", "service", "reboot", "shutdown", "init", "procps", "invoke-rc.d",
	"ln", "source", "."}

// ran remembers how a script has sysctl read files.
func (r *reload) ran(program string, words []word) {
	if slices.Contains(reloaders, program) {
		r.quiet = true
		return
	}
	if program != "sysctl" {
		return
	}
	reads := false
	var files []string
	for _, w := range words {
		switch {
		case w.text == "--system" || w.expands:
			r.quiet = true
		case w.text == "--load" || len(w.text) <= 4 && strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "p"):
			reads = true
		case strings.HasPrefix(w.text, "-p") || strings.HasPrefix(w.text, "--load="):
			r.quiet = true
		case !strings.HasPrefix(w.text, "-"):
			files = append(files, w.text)
		}
	}
	if !reads {
		return
	}
	if r.read = append(r.read, files...); len(files) == 0 && r.bare == nil {
		r.bare = slices.Clone(words)
	}
}

// unread rejects the sysctl -p of a script that has written to /etc/sysctl.d alone.
func (s *scanner) unread() {
	r := &s.reload
	if r.quiet || r.drop == "" || r.bare == nil || len(r.read) > 0 || s.system == FreeBSD || s.system == OpenBSD {
		return
	}
	last := r.bare[len(r.bare)-1]
	if s.stopped {
		return
	}
	s.rejected(Reject{Line: r.bare[0].line, Span: Span{r.bare[0].span.Start, last.span.End}, Idle: true,
		Reason:  "sysctl -p does not read " + r.drop + ", so that its settings count from the next boot only",
		Because: "Without the name of a file it reads /etc/sysctl.conf alone; sysctl -p FILE or sysctl --system reads this one."})
}

// wrote is a file that a command writes settings to, and where.
type wrote struct {
	file string
	at   word
}

// rewrites rejects a command that writes to a file which the next command writes anew, so that nothing of it is left.
func (s *scanner) rewrites(name string, c *command) {
	before := s.wrote
	s.wrote = wrote{}
	if !slices.Contains([]string{"echo", "printf", "cat", "tee"}, name) || c.conditional || s.within {
		return
	}
	file, added := s.resolved(writtenFile(c)), c.append
	for _, w := range c.words {
		added = added || w.text == "-a" || w.text == "--append"
	}
	if file == "" || strings.Contains(file, "$") || fromPath(file, "[").Kind == "" {
		return
	}
	if before.file == file && !added && !s.stopped {
		s.rejected(Reject{Line: before.at.line, Span: before.at.span, Idle: true,
			Reason:  "the next command writes " + file + " anew: nothing of this is left in it",
			Because: "> empties the file first; >> adds to it, and so does tee -a."})
	}
	s.wrote = wrote{strings.Clone(file), word{line: c.line, span: c.raw}}
}
