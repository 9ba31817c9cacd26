package weblog

import (
	"bytes"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// Filter says which requests count. Its zero value and nil let all through;
// ParseFilter makes one.
type Filter struct {
	status   *[1000]bool
	methods  []string
	path     *regexp.Regexp
	sizes    [2]int64 // from, to; to < 0 is no limit
	hasSize  bool
	protos   []uint8
	networks []netip.Prefix
	since    int64
	until    int64
}

// FilterSpec is a filter as people write it; empty fields let all through.
type FilterSpec struct {
	Status   string    // "2xx,304": codes and classes
	Method   string    // "GET,HEAD"
	Path     string    // a glob ("/static/*") or "~" and a regular expression
	Size     string    // "24kB-350kB", "1MiB-", "-10kB"
	Protocol string    // "HTTP/2,HTTP/3"
	Client   string    // addresses and networks
	Since    time.Time // from, inclusive
	Until    time.Time // to, exclusive
}

// ParseFilter compiles a specification. It returns nil for an empty one.
func ParseFilter(spec FilterSpec) (*Filter, error) {
	if spec == (FilterSpec{}) {
		return nil, nil
	}
	f := &Filter{sizes: [2]int64{0, -1}}
	for _, step := range []func(FilterSpec) error{f.setStatus, f.setPath, f.setSize, f.setProtocols, f.setClients} {
		if err := step(spec); err != nil {
			return nil, err
		}
	}
	for _, m := range list(spec.Method) {
		f.methods = append(f.methods, strings.ToUpper(m))
	}
	if !spec.Since.IsZero() {
		f.since = spec.Since.Unix()
	}
	if !spec.Until.IsZero() {
		f.until = spec.Until.Unix()
	}
	return f, nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (f *Filter) setStatus(spec FilterSpec) error {
	for _, s := range list(spec.Status) {
		if f.status == nil {
			f.status = new([1000]bool)
		}
		if class, ok := strings.CutSuffix(s, "xx"); ok && len(class) == 1 && class[0]-'0' < 10 {
			first := int(class[0]-'0') * 100
			for i := first; i < first+100; i++ {
				f.status[i] = true
			}
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 999 {
			return fmt.Errorf("status %q is neither a code (200) nor a class (2xx)", s)
		}
		f.status[n] = true
	}
	return nil
}

func (f *Filter) setPath(spec FilterSpec) error {
	if spec.Path == "" {
		return nil
	}
	pattern, isRegexp := strings.CutPrefix(spec.Path, "~")
	if !isRegexp {
		if _, err := path.Match(spec.Path, ""); err != nil {
			return fmt.Errorf("path pattern %q: %w", spec.Path, err)
		}
		// In a path filter, * crosses slashes: /static/* is all below it.
		pattern = "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(spec.Path)) + "$"
	}
	var err error
	if f.path, err = regexp.Compile(pattern); err != nil {
		return fmt.Errorf("path pattern: %w", err)
	}
	return nil
}

func (f *Filter) setSize(spec FilterSpec) error {
	if spec.Size == "" {
		return nil
	}
	from, to, ok := strings.Cut(spec.Size, "-")
	if !ok || from == "" && to == "" {
		return fmt.Errorf("size range %q is not FROM-TO (24kB-350kB, 1MiB-, -10kB)", spec.Size)
	}
	f.hasSize = true
	for i, s := range []string{from, to} {
		if s == "" {
			continue
		}
		n, err := units.ParseBytes(s)
		if err != nil {
			return fmt.Errorf("size range %q: %w", spec.Size, err)
		}
		f.sizes[i] = int64(n)
	}
	if f.sizes[1] >= 0 && f.sizes[0] > f.sizes[1] {
		return fmt.Errorf("size range %q is empty", spec.Size)
	}
	return nil
}

func (f *Filter) setProtocols(spec FilterSpec) error {
	for _, s := range list(spec.Protocol) {
		i := protoIndex([]byte(strings.ToUpper(s)))
		if int(i) >= len(protos)-2 {
			return fmt.Errorf("unknown protocol %q (use %s)", s, strings.Join(protos[:len(protos)-2], ", "))
		}
		f.protos = append(f.protos, i)
	}
	return nil
}

func (f *Filter) setClients(spec FilterSpec) error {
	for _, s := range list(spec.Client) {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, aerr := netip.ParseAddr(s)
			if aerr != nil {
				return fmt.Errorf("client %q is neither an address nor a network (192.0.2.0/24)", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		f.networks = append(f.networks, p.Masked())
	}
	return nil
}

// match reports whether the filter lets r through. What a request does not
// say does not match.
func (f *Filter) match(r *request) bool {
	if f == nil {
		return true
	}
	switch {
	case f.status != nil && !f.status[r.status],
		f.hasSize && (r.size < f.sizes[0] || r.size < 0 || f.sizes[1] >= 0 && r.size > f.sizes[1]),
		(f.since != 0 || f.until != 0) && !r.hasStamp,
		f.since != 0 && r.stamp.unix < f.since,
		f.until != 0 && r.stamp.unix >= f.until:
		return false
	}
	return f.matchText(r)
}

func (f *Filter) matchText(r *request) bool {
	if len(f.methods) > 0 && !slices.Contains(f.methods, string(r.method)) {
		return false
	}
	if len(f.protos) > 0 && !slices.Contains(f.protos, protoIndex(r.proto)) {
		return false
	}
	if f.path != nil {
		p, _, _ := bytes.Cut(r.path, []byte("?"))
		if !f.path.Match(p) {
			return false
		}
	}
	return len(f.networks) == 0 || f.matchClient(r.client)
}

func (f *Filter) matchClient(b []byte) bool {
	s := string(b)
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		ap, err := netip.ParseAddrPort(s)
		if err != nil {
			return false
		}
		addr = ap.Addr()
	}
	addr = addr.Unmap().WithZone("")
	for _, p := range f.networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
