package logdetect

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// infer works out the format of text lines without a preset, from what their
// columns hold. With ErrNoTime comes a format for counting the lines.
func infer(lines [][]byte, unit logline.Unit) (*logline.Format, error) {
	var first error
	var untimed *logline.Format
	for _, sep := range []byte(separators) {
		if sep != ' ' && bytes.Count(lines[0], []byte{sep}) < 3 {
			continue
		}
		f, err := tableOf(lines, sep).infer(lines, unit)
		if err == nil {
			return f, nil
		}
		if first == nil || sep == ' ' {
			first, untimed = err, f
		}
	}
	return untimed, first
}

// infer works out the format from what the columns hold.
func (t *table) infer(lines [][]byte, unit logline.Unit) (*logline.Format, error) {
	if float64(len(t.rows)) < minScore*float64(len(lines)) || len(t.shape) < 3 {
		return nil, fmt.Errorf("no known format fits; say --format with the server's format string or a preset's "+
			"name (wirerate weblog --help lists them). the first line: %s", logline.Escape(string(lines[0]), 120))
	}
	roles := make([]logline.Role, len(t.shape))
	after := t.inferRequest(roles)
	status := t.find(after, isUsualStatus)
	if status < 0 {
		status = t.find(0, isUsualStatus)
	}
	switch {
	case status >= 0:
		roles[status] = logline.RoleStatus
		next := status + 1
		for next < len(roles) && t.all(next, func(b []byte) bool { return len(b) == 0 }) {
			next++ // of "^^"
		}
		if next < len(roles) && t.shape[next].key == "" && t.all(next, isWhole) {
			roles[next] = logline.RoleBytes
		}
	case !slices.Contains(roles, logline.RoleRequest): // a request says well enough what the lines are
		return nil, fmt.Errorf("found no column of HTTP statuses; say --format. the first line: %s",
			logline.Escape(string(lines[0]), 120))
	}
	if i := t.find(0, startsWithAddress); i >= 0 && roles[i] == logline.RoleNone {
		roles[i] = logline.RoleClient
	}
	col, u, err := t.duration(roles, unit)
	if errors.Is(err, ErrNoTime) {
		f, ferr := logline.NewUntimed("inferred, without a request time", t.tokens(roles))
		if ferr != nil {
			return nil, err
		}
		return f, err
	}
	if err != nil {
		return nil, err
	}
	roles[col] = logline.RoleDuration
	f, err := logline.New("inferred", t.formatText(roles), u, t.tokens(roles))
	if err != nil {
		return nil, err
	}
	f.Note = fmt.Sprintf("took column %s for the request time in %s", t.describe(col), u.Label())
	if status < 0 {
		f.Note += "; found no column of statuses"
	}
	return f, nil
}

// inferRequest finds the time stamp and the request, and returns the column
// after it.
func (t *table) inferRequest(roles []logline.Role) (after int) {
	var c logline.Clock
	isStamp := func(b []byte) bool { s, ok := c.Parse(b); return ok && s.Unix > 0 }
	if i := t.find(0, isStamp); i >= 0 {
		roles[i] = logline.RoleTime
		after = i + 1
	}
	if i := t.find(0, logline.LooksLikeRequest); i >= 0 {
		roles[i] = logline.RoleRequest
		return i + 1
	}
	method := t.find(0, func(b []byte) bool { return slices.Contains(usualMethods, string(b)) })
	if method < 0 {
		return after
	}
	roles[method] = logline.RoleMethod
	after = max(after, method+1)
	if method+1 < len(roles) && t.all(method+1, func(b []byte) bool {
		return bytes.HasPrefix(b, []byte("/")) ||
			bytes.Contains(b, []byte("://"))
	}) {
		roles[method+1] = logline.RolePath
		after = method + 2
	}
	if i := t.find(after, func(b []byte) bool { return bytes.HasPrefix(b, []byte("HTTP/")) }); i >= 0 {
		roles[i] = logline.RoleProto
	}
	return after
}

func isStatus(b []byte) bool {
	n, ok := logline.ParseStatus(b)
	return ok && len(b) == 3 && (n == 0 || n >= 100 && n <= 599)
}

// isUsualStatus reports whether b is a status that servers send, which a port such as
// 443 is not.
func isUsualStatus(b []byte) bool {
	n, _ := logline.ParseStatus(b)
	return isStatus(b) && (n%100 <= 31 || n == 444 || n == 451 || n >= 460 && n <= 464 || n >= 494 && n <= 499)
}

func isWhole(b []byte) bool {
	_, known, ok := logline.ParseUint(b)
	return ok && known
}

func isAddress(b []byte) bool {
	s := string(b)
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(s)
	return err == nil
}

// tokens makes a format of the columns.
func (t *table) tokens(roles []logline.Role) []logline.Token {
	tokens := logline.NginxTokens(t.formatText(roles))
	col := 0
	for i := range tokens {
		if v := &tokens[i]; v.Name != "" {
			v.List = t.shape[col].list || v.Role == logline.RoleUpstream
			v.Pad = t.shape[col].pad
			col++
		}
	}
	return tokens
}

// formatText is the format in the notation that ParseFormat takes.
func (t *table) formatText(roles []logline.Role) string {
	var b strings.Builder
	for i, p := range t.shape {
		if i > 0 {
			b.WriteByte(t.sep)
		}
		name := fmt.Sprintf("column_%d", i+1)
		if roles[i] != logline.RoleNone {
			name = roles[i].String()
		}
		marks := map[byte][2]string{'[': {"[", "]"}, '"': {`"`, `"`}}[p.kind]
		b.WriteString(p.key + marks[0] + "$" + name + marks[1])
	}
	return b.String()
}

var usualMethods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE", "PROPFIND"}
