package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// jailConf reads jail.conf of FreeBSD (jail.conf(5)): parameters, and blocks of them for one jail each. Nothing of it is
// a setting of the catalog; what jail(8) refuses, and what undoes itself, is rejected.
func (s *scanner) jailConf() {
	j := &jailReader{s: s, line: 1, pos: textStart(s.src)}
	for j.pos < len(s.src) && !s.stopped && len(j.global) < maxVariables && j.jails < maxVariables {
		j.step()
	}
	if j.inside && !s.part && j.pos >= len(s.src) {
		j.reject(j.open, "the block of "+j.open.text+" is not closed: } is missing", "jail(8) reads no jail of a file that it cannot parse.")
	}
	j.conclude()
}

type jailReader struct {
	s         *scanner
	pos, line int
	words     []word // of the statement
	name      string // of the block
	open      word   // before its brace
	inside    bool
	includes  bool // another file
	jails     int
	global    []jailParameter
	own       []jailParameter
}

// jailParameter is one parameter with the words behind its sign.
type jailParameter struct {
	name   word
	adds   bool // +=
	values []word
}

func (j *jailReader) step() {
	src := j.s.src
	switch c, rest := src[j.pos], src[j.pos:]; {
	case c == '\n':
		j.line++
		j.pos++
	case isBlank(c) || c == '\r' || c == ',':
		j.pos++
	case c == '#' || strings.HasPrefix(rest, "//"):
		j.pos += lengthTo(rest, "\n")
	case strings.HasPrefix(rest, "/*"):
		n := min(lengthTo(rest, "*/")+2, len(rest))
		j.line += strings.Count(rest[:n], "\n")
		j.pos += n
	case c == ';' || c == '{' || c == '}':
		j.mark(c)
		j.pos++
	default:
		j.word()
	}
}

// lengthTo is how much of a text stands before a mark, all of it without one.
func lengthTo(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i
	}
	return len(text)
}

func (j *jailReader) mark(c byte) {
	switch {
	case c == '{' && !j.inside && len(j.words) == 1:
		j.inside, j.name, j.open, j.words = true, j.words[0].text, j.words[0], nil
		j.jails++
		return
	case c == '}' && j.inside:
		j.statement()
		j.conclude()
		j.inside, j.name, j.own = false, "", nil
	}
	j.statement()
}

// word reads a string in quotes, a sign, or a run of other characters.
func (j *jailReader) word() {
	src, start, line := j.s.src, j.pos, j.line
	w := word{line: line}
	switch q := src[start]; {
	case q == '"' || q == '\'':
		for j.pos++; j.pos < len(src) && src[j.pos] != q; j.pos++ {
			if src[j.pos] == '\\' && j.pos+1 < len(src) {
				j.pos++
			}
			if src[j.pos] == '\n' {
				j.line++
			}
		}
		w.text, w.quoted = src[start+1:min(j.pos, len(src))], true
		j.pos = min(j.pos+1, len(src))
	case strings.HasPrefix(src[start:], "+="):
		j.pos += 2
	case q == '=':
		j.pos++
	default:
		for j.pos < len(src) && strings.IndexByte(" \t\r\n,;{}=\"'#", src[j.pos]) < 0 && !strings.HasPrefix(src[j.pos:], "+=") {
			if strings.HasPrefix(src[j.pos:], "${") { // whose braces are no block
				j.pos += lengthTo(src[j.pos:], "}")
			}
			j.pos = min(j.pos+1, len(src))
		}
		j.pos = max(j.pos, start+1)
	}
	w.span = Span{start, j.pos}
	if !w.quoted {
		w.text = src[start:j.pos]
	}
	if len(j.words) < maxVariables {
		j.words = append(j.words, w)
	}
}

func isJailSign(w word) bool { return !w.quoted && (w.text == "=" || w.text == "+=") }

func (j *jailReader) statement() {
	words := j.words
	j.words = nil
	j.includes = j.includes || len(words) > 0 && words[0].text == ".include"
	if len(words) == 0 || words[0].quoted || strings.HasPrefix(words[0].text, "$") || strings.HasPrefix(words[0].text, ".") {
		return
	}
	p := jailParameter{name: words[0]}
	if len(words) > 1 && isJailSign(words[1]) {
		p.adds, p.values = words[1].text == "+=", words[2:]
	}
	if i := slices.IndexFunc(p.values, isJailSign); i > 0 {
		w := p.values[i-1]
		j.reject(w, "no semicolon ends the statement before "+w.text, "jail(8) reads no jail of a file that it cannot parse.")
		return
	}
	j.spelt(p.name)
	for _, w := range p.values {
		if !w.quoted && (strings.HasPrefix(w.text, "“") || strings.HasPrefix(w.text, "”")) {
			w.span.End = p.values[len(p.values)-1].span.End
			j.reject(w, "these are typographic quotes, which are part of the value: write "+p.name.text+" = "+
				strings.NewReplacer("“", "\"", "”", "\"").Replace(j.s.src[w.span.Start:w.span.End]),
				"jail(8) knows no quotes but the plain ones.")
			break
		}
	}
	if j.inside {
		j.own = append(j.own, p)
		return
	}
	j.global = append(j.global, p)
}

func (j *jailReader) reject(w word, reason, because string) {
	j.s.rejected(Reject{Line: w.line, Span: w.span, Reason: reason, Because: because, certain: true})
}

// jailParameters are those that files set (jail(8)).
var jailParameters = strings.Fields(`path vnet vnet.interface devfs_ruleset mount.devfs mount.fdescfs mount.procfs mount mount.fstab
	exec.prestart exec.prepare exec.created exec.start exec.poststart exec.prestop exec.stop exec.poststop exec.release exec.clean
	exec.consolelog exec.jail_user exec.system_user exec.fib exec.timeout host.hostname host.domainname host.hostuuid host.hostid
	interface ip4 ip6 ip4.addr ip6.addr ip4.saddrsel ip6.saddrsel ip_hostname persist securelevel children.max depend osrelease
	osreldate enforce_statfs stop.timeout linux linux.osname sysvmsg sysvsem sysvshm command cpuset.id
	allow.set_hostname allow.sysvipc allow.raw_sockets allow.chflags allow.mount allow.mount.devfs allow.mount.fdescfs
	allow.mount.fusefs allow.mount.nullfs allow.mount.procfs allow.mount.linprocfs allow.mount.linsysfs allow.mount.tmpfs
	allow.mount.zfs allow.vmm allow.quotas allow.read_msgbuf allow.socket_af allow.mlock allow.nfsd allow.reserved_ports
	allow.unprivileged_proc_debug allow.suser allow.extattr allow.adjtime allow.settime allow.routing`)

// spelt rejects a parameter that is one slip away from a known one.
func (j *jailReader) spelt(name word) {
	text := strings.ReplaceAll(name.text, ".no", ".")
	if len(text) < 4 || slices.Contains(jailParameters, strings.TrimPrefix(text, "no")) || slices.Contains(jailParameters, text) {
		return
	}
	for _, known := range jailParameters {
		if spelling.Slip(text, known) {
			j.reject(name, "jail(8) knows no parameter "+name.text+"; did you mean "+known+"?",
				"It starts no jail that has an unknown parameter.")
			return
		}
	}
}

// conclude judges the parameters of one jail together, those of all jails with them, or these alone.
func (j *jailReader) conclude() {
	params := j.own
	if !j.inside {
		params = j.global
	}
	vnet := false
	first := map[string]jailParameter{}
	for _, p := range slices.Concat(j.global, j.own) {
		vnet = vnet || p.name.text == "vnet" && (len(p.values) == 0 || p.values[0].text != "inherit")
	}
	for _, p := range params {
		name := p.name.text
		if before, set := first[name]; set && !p.adds && len(p.values) > 0 && strings.HasPrefix(name, "exec.") {
			j.reject(before.name, name+" is set again below, which replaces this command",
				"A command that is to run beside others is added: "+name+" += \"...\".")
		}
		first[name] = p
		switch {
		case (name == "ip4.addr" || name == "ip6.addr") && vnet && len(p.values) > 0 && p.values[0].text != "":
			j.reject(p.name, "a jail with vnet cannot have "+name+"; its own rc.conf gives the interface its address",
				"The kernel refuses the jail (\"vnet jails cannot have IP address restrictions\").")
		case name == "vnet.interface" && j.inside && !vnet && !j.includes:
			j.reject(p.name, name+" needs a jail with its own network stack: write vnet;",
				"Without vnet a jail shares the host's stack, where the interface already is. jail(8) fails to move it and does not "+
					"start the jail.")
		case name == "exec.prestart":
			j.movesEarly(p)
		}
	}
}

// movesEarly rejects a command that moves an interface into the jail before there is one.
func (j *jailReader) movesEarly(p jailParameter) {
	for _, v := range p.values {
		words := strings.FieldsFunc(v.text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|\\", r) })
		for i := 0; i+2 < len(words); i++ {
			if words[i] != "ifconfig" && !strings.HasSuffix(words[i], "/ifconfig") {
				continue
			}
			for k := i + 2; k+1 < len(words) && words[k] != "ifconfig"; k++ {
				if words[k] == "vnet" && (words[k+1] == j.name || words[k+1] == "$name" || words[k+1] == "${name}") {
					j.reject(v, "exec.prestart runs before there is a jail "+words[k+1]+" to move "+words[i+1]+" into; "+
						"vnet.interface = \""+words[i+1]+"\" moves it",
						"ifconfig fails, and jail(8) does not start a jail whose exec.prestart fails.")
					return
				}
			}
		}
	}
}
