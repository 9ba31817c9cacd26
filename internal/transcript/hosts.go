package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// A post may hold the outputs of several hosts, told apart by their prompts.

// chief is the host of which most was posted; what is of others is not read, and said.
func chief(all []Posted) Posted {
	if len(all) == 0 {
		return Posted{}
	}
	best := 0
	size := func(p Posted) (n int) {
		for _, text := range p.Texts {
			n += strings.Count(text, "\n")
		}
		return n
	}
	for i := range all {
		if size(all[i]) > size(all[best]) {
			best = i
		}
	}
	p := all[best]
	for i, other := range all {
		if i != best {
			p.Unread = append(p.Unread, other.ofOther(p.moved)...)
		}
	}
	return p
}

// each are the hosts of which an output is known; what is of others is said with the first one.
func each(all []Posted) []Posted {
	known := slices.DeleteFunc(slices.Clone(all), func(p Posted) bool { return !p.known() })
	if len(known) < 2 {
		return []Posted{chief(all)}
	}
	for _, other := range all {
		if !other.known() {
			known[0].Unread = append(known[0].Unread, other.ofOther(known[0].moved)...)
		}
	}
	return known
}

// byHost are the sections of each host that the prompts name, in the order in which they come; what is before a prompt
// with a name, or behind one without, is of the last host, or of the first one.
func byHost(parts []section) [][]section {
	var names []string
	of := map[string][]section{}
	now := ""
	for _, part := range parts {
		now = cmp.Or(part.host(), now)
		if !slices.Contains(names, now) {
			names = append(names, now)
		}
		of[now] = append(of[now], part)
	}
	if len(names) > 1 && names[0] == "" {
		of[names[1]] = append(of[""], of[names[1]]...)
		names = names[1:]
	}
	var all [][]section
	for _, name := range names {
		all = append(all, of[name])
	}
	return all
}

// prompt is what stands before the command.
func (s section) prompt() string {
	first, _, _ := strings.Cut(s.command, " ")
	if i := strings.Index(s.line, first); i > 0 {
		return s.line[:i]
	}
	return ""
}

var (
	userAtHost = regexp.MustCompile(`(?:^|[^\w.-])[A-Za-z_][\w.-]*@([A-Za-z][\w-]*)`)
	hostPrompt = regexp.MustCompile(`^\s*\[?([A-Za-z][\w-]*)[\w.]*[:\]]? ?[~/]?[\w/]*[#$%>]+ *(?:sudo +|doas +)?$`)
	shellName  = regexp.MustCompile(`^(?:ba|z|k|c|tc|da|a)?sh(?:-\d*)?$|^(?:mysql|root|admin|user|ssh)$`)
)

// host is the name of the host in the prompt; empty where it has none.
func (s section) host() string {
	for _, form := range []*regexp.Regexp{userAtHost, hostPrompt} {
		if m := form.FindStringSubmatch(s.prompt()); m != nil && !shellName.MatchString(m[1]) {
			return m[1]
		}
	}
	return ""
}
