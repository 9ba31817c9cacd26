package facts

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	secretLine = regexp.MustCompile(`(?m)^([ \t]*(?:ident|lunid)|\S*(?:tcp_fastopen_key|stable_secret|hostuuid|` +
		`hostid|` +
		`boot_id|random\.uuid|bootfile|smbios\.\S*(?:serial|uuid))\S*)(\s*[=:]\s*).*$`)
	// remoteMount is the server, and the user, of a file system of the network.
	remoteMount = regexp.MustCompile(`( - (?:nfs4?|cifs|smb3|9p|ceph|glusterfs|fuse\.\w+) )\S+ \S+`)
	macPattern  = regexp.MustCompile(`\b[0-9a-fA-F]{1,2}(?::[0-9a-fA-F]{1,2}){5}\b`)
	v4Pattern   = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	v6Pattern   = regexp.MustCompile(`[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}`)
)

// Redact masks what identifies people and places in a capture: addresses, host
// names and keys. The same value gets the same mask everywhere, addresses of
// one network stay in one network, and formats stay as they were. Of the
// kernel's messages only those about the network remain. Without names, only
// keys and identifiers are masked.
func Redact(c *host.Capture, names bool) {
	m := &masker{v4: map[string]int{}, hosts: map[string]int{}, v6: map[string]string{}, macs: map[string]string{},
		words: map[string]string{}}
	if names {
		m.learnNames(c)
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		e.Out = []byte(secretLine.ReplaceAllString(string(e.Out), "${1}${2}masked"))
		if !names {
			continue
		}
		if len(e.Args) == 1 && e.Args[0] == "dmesg" {
			e.Out = []byte(onlyMessages(string(e.Out)))
		}
		if e.Path == "/proc/self/mountinfo" {
			e.Out = remoteMount.ReplaceAll(e.Out, []byte("${1}masked rw"))
		}
		e.Out, e.Stderr = []byte(m.mask(string(e.Out))), m.mask(e.Stderr)
	}
	if names {
		c.Host = "host-1"
	}
}

type masker struct {
	v4, hosts map[string]int
	v6, macs  map[string]string
	words     map[string]string
}

// learnNames finds the host's own names in its identity and settings.
func (m *masker) learnNames(c *host.Capture) {
	add := func(name string) {
		name = strings.TrimSpace(name)
		if len(name) < 2 || m.words[name] != "" || name == "localhost" || strings.HasPrefix(name, "(none)") {
			return
		}
		m.words[name] = "host-1"
		if short, _, ok := strings.Cut(name, "."); ok && len(short) > 1 {
			m.words[short] = "host-1"
		}
	}
	for _, e := range c.Entries {
		switch strings.Join(e.Args, " ") {
		case "uname -a":
			if words := strings.Fields(string(e.Out)); len(words) > 1 {
				add(words[1])
			}
		case "sysctl -a":
			for name, s := range parseSysctl(text{data: e.Out}) {
				if name == "kernel.hostname" || name == "kern.hostname" || name == "kernel.domainname" ||
					name == "kern.domainname" {
					add(s.Value)
				}
			}
		}
	}
	_, name, _ := strings.Cut(c.Host, "@")
	if strings.HasPrefix(c.Host, "ssh://") {
		add(strings.TrimPrefix(name, "ssh://"))
	}
}

func (m *masker) mask(s string) string {
	s = macPattern.ReplaceAllStringFunc(s, m.mac)
	s = v6Pattern.ReplaceAllStringFunc(s, m.address6)
	s = v4Pattern.ReplaceAllStringFunc(s, m.address4)
	for name, mask := range m.words {
		s = replaceWord(s, name, mask)
	}
	return s
}

// replaceWord replaces whole words only: a host called "a" is no letter.
func replaceWord(s, word, by string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(word)
		if (i > 0 && nameByte(s[i-1])) || (end < len(s) && nameByte(s[end])) {
			b.WriteString(s[:end])
		} else {
			b.WriteString(s[:i] + by)
		}
		s = s[end:]
	}
}

func nameByte(c byte) bool { return wordByte(c) || c == '-' || c == '_' }

func (m *masker) mac(s string) string {
	lower := strings.ToLower(s)
	if strings.Trim(lower, "0:") == "" || strings.Trim(lower, "f:") == "" || strings.HasPrefix(lower, "02:00:00:00:") {
		return s
	}
	if m.macs[lower] == "" {
		n := len(m.macs) + 1
		m.macs[lower] = fmt.Sprintf("02:00:00:%02x:%02x:%02x", n>>16&255, n>>8&255, n&255)
	}
	return m.macs[lower]
}

// address4 keeps a network of 24 bits together and what is no host's address.
func (m *masker) address4(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.As4()[0] == 255 || a.As4()[0] == 0 {
		return s
	}
	b := a.As4()
	network := s[:strings.LastIndexByte(s, '.')]
	if _, ok := m.v4[network]; !ok {
		m.v4[network] = len(m.v4)
	}
	host := int(b[3])
	if host != 0 && host != 255 {
		if _, ok := m.hosts[s]; !ok {
			m.hosts[network+".n"]++
			m.hosts[s] = 1 + (m.hosts[network+".n"]-1)%254
		}
		host = m.hosts[s]
	}
	n := m.v4[network]
	return fmt.Sprintf("198.%d.%d.%d", 18+n>>8&1, n&255, host)
}

func (m *masker) address6(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() {
		return s
	}
	if m.v6[s] == "" {
		prefix := "2001:db8::"
		if a.IsLinkLocalUnicast() {
			prefix = "fe80::"
		}
		m.v6[s] = fmt.Sprintf("%s%x", prefix, len(m.v6)+1)
	}
	return m.v6[s]
}

// onlyMessages keeps the lines of a kernel log that concern the network.
func onlyMessages(s string) string {
	f := &Facts{texts: map[string][]string{}}
	t := text{from: "dmesg", data: []byte(s)}
	f.texts["dmesg"] = t.lines()
	_ = f.readMessages(t) // a refusal has no messages
	var b strings.Builder
	for _, m := range f.Messages {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

// RecordedWindow returns the sampling window of a capture, 0 when it has none.
func RecordedWindow(c *host.Capture) time.Duration {
	for _, e := range c.Entries {
		if len(e.Args) != 3 || e.Args[0] != "sh" {
			continue
		}
		var seconds float64
		if n, _ := fmt.Sscanf(e.Args[2], "sleep %g\n", &seconds); n == 1 && seconds > 0 && seconds < 86400 {
			return time.Duration(seconds * float64(time.Second))
		}
	}
	return 0
}
