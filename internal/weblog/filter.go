package weblog

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Filter says which requests count. Its zero value and nil let all through;
// ParseFilter makes one.
type Filter struct {
	status   choice[[2]int] // from, to
	methods  choice[string]
	path     *regexp.Regexp
	noPath   bool     // paths that fit do not count
	sizes    [2]int64 // from, to; to < 0 is no limit
	hasSize  bool
	protos   choice[uint8]
	networks choice[netip.Prefix]
	behind   *behindRange
	since    int64
	until    int64
}

// choice is what is wanted and what is not; nothing wanted is everything.
type choice[T any] struct{ only, not []T }

func (c *choice[T]) add(v T, not bool) {
	if not {
		c.not = append(c.not, v)
	} else {
		c.only = append(c.only, v)
	}
}

// lets reports whether something of which is tells whether it is one of the choices
// is wanted.
func (c *choice[T]) lets(is func(T) bool) bool {
	return (len(c.only) == 0 || slices.ContainsFunc(c.only, is)) && !slices.ContainsFunc(c.not, is)
}

// behindRange is a range of the share of its time that a request spent in the server
// behind; none is of requests that asked no server.
type behindRange struct {
	none     bool
	from, to float64
}

// FilterSpec is a filter as people write it; empty fields let all through. A "!"
// before a status, method, protocol, client or path leaves out what fits.
type FilterSpec struct {
	Status   string    // "2xx,304" or "!499": codes and classes
	Method   string    // "GET,HEAD"
	Path     string    // a glob ("/static/*") or "~" and a regular expression
	Size     string    // "24kB-350kB", "1MiB-", "-10kB"
	Protocol string    // "HTTP/2,HTTP/3"
	Client   string    // addresses and networks
	Upstream string    // share of the time: "50%-", "-10%", "20%-80%", or "none"
	Since    time.Time // from, inclusive
	Until    time.Time // to, exclusive
}

// ParseFilter compiles a specification. It returns nil for an empty one.
func ParseFilter(spec FilterSpec) (*Filter, error) {
	if spec == (FilterSpec{}) {
		return nil, nil
	}
	f := &Filter{sizes: [2]int64{0, -1}}
	for _, step := range []func(FilterSpec) error{f.setStatus, f.setMethods, f.setPath, f.setSize, f.setProtocols,
		f.setClients, f.setUpstream} {
		if err := step(spec); err != nil {
			return nil, err
		}
	}
	if !spec.Since.IsZero() {
		f.since = spec.Since.Unix()
	}
	if !spec.Until.IsZero() {
		f.until = spec.Until.Unix()
	}
	if f.since != 0 && f.until != 0 && f.since >= f.until {
		return nil, fmt.Errorf("no time is since %s and before %s", spec.Since.Format(time.RFC3339),
			spec.Until.Format(time.RFC3339))
	}
	return f, nil
}

// each calls set with every word of a list and whether it is to be left out. A list
// that says nothing is an error.
func each(what, text string, set func(word string, not bool) error) error {
	if text == "" {
		return nil
	}
	words := list(text)
	if len(words) == 0 {
		return fmt.Errorf("%s %q names none", what, text)
	}
	for _, w := range words {
		word, not := strings.CutPrefix(w, "!")
		if err := set(word, not); err != nil {
			return err
		}
	}
	return nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (f *Filter) setStatus(spec FilterSpec) error {
	return each("status", spec.Status, func(s string, not bool) error {
		if class, ok := strings.CutSuffix(s, "xx"); ok && len(class) == 1 && class[0] >= '1' && class[0] <= '5' {
			first := int(class[0]-'0') * 100
			f.status.add([2]int{first, first + 99}, not)
			return nil
		}
		n, err := strconv.Atoi(s)
		if err != nil || n != 0 && n < 100 || n > 999 {
			return fmt.Errorf("status %q is neither a code (200, or 000 of requests without an answer) nor a class "+
				"(1xx to 5xx); ! before it leaves it out (!499)", s)
		}
		f.status.add([2]int{n, n}, not)
		return nil
	})
}

func (f *Filter) setMethods(spec FilterSpec) error {
	return each("method", spec.Method, func(s string, not bool) error {
		if strings.ContainsFunc(s, func(r rune) bool {
			return (r|0x20 < 'a' || r|0x20 > 'z') && r != '-' &&
				r != '_'
		}) || s == "" {
			return fmt.Errorf("method %q is not a word such as GET", s)
		}
		f.methods.add(strings.ToUpper(s), not)
		return nil
	})
}

func (f *Filter) setPath(spec FilterSpec) error {
	if spec.Path == "" {
		return nil
	}
	text, not := strings.CutPrefix(spec.Path, "!")
	f.noPath = not
	pattern, isRegexp := strings.CutPrefix(text, "~")
	if pattern == "" {
		return fmt.Errorf("path pattern %q is empty", spec.Path)
	}
	if !isRegexp {
		if _, err := path.Match(text, ""); err != nil {
			return fmt.Errorf("path pattern %q: a [ is not closed or a \\ is last; a \\ before a [ takes it as it is",
				spec.Path)
		}
		pattern = globExpression(text)
	}
	var err error
	if f.path, err = regexp.Compile(pattern); err != nil {
		return fmt.Errorf("path pattern %q: %w", spec.Path, err)
	}
	return nil
}

// globExpression turns a glob into a regular expression. * crosses slashes:
// /static/* is all below it.
func globExpression(glob string) string {
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := i + 1 // a ] that comes first is not the end
			if end < len(glob) && glob[end] == '^' {
				end++
			}
			for end++; end < len(glob) && glob[end] != ']'; end++ {
				if glob[end] == '\\' {
					end++
				}
			}
			b.WriteString(strings.ReplaceAll(glob[i:min(end+1, len(glob))], "[:", `[\:`))
			i = end
		case '\\':
			i++
			b.WriteString(regexp.QuoteMeta(glob[i:min(i+1, len(glob))]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	b.WriteByte('$')
	return b.String()
}

func (f *Filter) setSize(spec FilterSpec) error {
	if spec.Size == "" {
		return nil
	}
	f.hasSize = true
	return between("size range", spec.Size, "FROM-TO (24kB-350kB, 1MiB-, -10kB)", &f.sizes[0], &f.sizes[1],
		func(s string) (int64, error) {
			n, err := units.ParseBytes(s)
			return int64(n), err
		})
}

// between reads FROM-TO, of which one may be missing and leaves its end as it is.
func between[T int64 | float64](what, text, example string, from, to *T, parse func(string) (T, error)) error {
	first, last, ok := strings.Cut(text, "-")
	if !ok || first == "" && last == "" {
		return fmt.Errorf("%s %q is not %s", what, text, example)
	}
	for i, s := range []string{first, last} {
		if s == "" {
			continue
		}
		v, err := parse(s)
		if err != nil {
			return fmt.Errorf("%s %q: %w", what, text, err)
		}
		*[]*T{from, to}[i] = v
	}
	if first != "" && last != "" && *from > *to {
		return fmt.Errorf("%s %q is empty", what, text)
	}
	return nil
}

func (f *Filter) setProtocols(spec FilterSpec) error {
	return each("protocol", spec.Protocol, func(s string, not bool) error {
		i := protoIndex([]byte(s)) // h2 is lower case, HTTP/2 may be
		if int(i) >= len(protos)-2 {
			i = protoIndex([]byte(strings.ToUpper(s)))
		}
		if int(i) >= len(protos)-2 {
			return fmt.Errorf("unknown protocol %q (use %s)", s, strings.Join(protos[:len(protos)-2], ", "))
		}
		f.protos.add(i, not)
		return nil
	})
}

func (f *Filter) setClients(spec FilterSpec) error {
	return each("client", spec.Client, func(s string, not bool) error {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, aerr := netip.ParseAddr(s)
			if aerr != nil {
				return fmt.Errorf("client %q is neither an address nor a network (192.0.2.0/24)", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		f.networks.add(p.Masked(), not)
		return nil
	})
}

func (f *Filter) setUpstream(spec FilterSpec) error {
	switch spec.Upstream {
	case "":
		return nil
	case "none":
		f.behind = &behindRange{none: true}
		return nil
	}
	f.behind = &behindRange{to: math.Inf(1)}
	return between("upstream share", spec.Upstream, "FROM-TO (50%-, -10%, 20%-80%) or none", &f.behind.from,
		&f.behind.to, func(s string) (float64, error) {
			number, isPercent := strings.CutSuffix(s, "%")
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || !isPercent || !(v >= 0 && v <= 100) {
				return 0, fmt.Errorf("%q is not a share such as 50%%", s)
			}
			return v / 100, nil
		})
}

// lets reports whether r is in the range. More time in the server behind than in all
// is all of it.
func (b *behindRange) lets(r *logline.Request) bool {
	if b == nil {
		return true
	}
	if b.none || !r.HasUpstream {
		return b.none && !r.HasUpstream
	}
	share := behindShare(r)
	return share >= b.from && share <= b.to
}

// behindShare is the share of its time that a request spent in the server behind.
func behindShare(r *logline.Request) float64 {
	if r.Micros <= r.Upstream {
		return 1
	}
	return float64(r.Upstream) / float64(r.Micros)
}

// match reports whether the filter lets r through. What a request does not
// say does not match.
func (f *Filter) match(r *logline.Request) bool {
	if f == nil {
		return true
	}
	switch {
	case f.hasSize && (r.Size < f.sizes[0] || r.Size < 0 || f.sizes[1] >= 0 && r.Size > f.sizes[1]),
		(f.since != 0 || f.until != 0) && !r.HasStamp,
		f.since != 0 && r.Stamp.Unix < f.since,
		f.until != 0 && r.Stamp.Unix >= f.until:
		return false
	}
	return f.matchText(r)
}

func (f *Filter) matchText(r *logline.Request) bool {
	if !f.status.lets(func(codes [2]int) bool { return r.Status >= codes[0] && r.Status <= codes[1] }) ||
		!f.behind.lets(r) || !f.methods.lets(func(m string) bool { return string(r.Method) == m }) {
		return false
	}
	proto := protoIndex(r.Proto)
	if !f.protos.lets(func(p uint8) bool { return p == proto }) {
		return false
	}
	if f.path != nil {
		p, _, _ := bytes.Cut(r.Path, []byte("?"))
		if f.path.Match(p) == f.noPath {
			return false
		}
	}
	if len(f.networks.only)+len(f.networks.not) == 0 {
		return true
	}
	addr, known := clientAddr(r.Client)
	return f.networks.lets(func(p netip.Prefix) bool { return known && p.Contains(addr) })
}

// clientAddr reads the address of a client, with or without a port or brackets.
func clientAddr(b []byte) (netip.Addr, bool) {
	s := string(b)
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		ap, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = ap.Addr()
	}
	return addr.Unmap().WithZone(""), true
}
