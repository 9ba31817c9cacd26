package logline

import (
	"bytes"
	"fmt"
	"strings"
)

// w3cRoles maps the fields of the W3C extended log file format
// (https://www.w3.org/TR/WD-logfile.html) as IIS and CloudFront use them.
var w3cRoles = map[string]Role{
	"time-taken": RoleDuration, "date": RoleTime, "time": roleTime2, "c-ip": RoleClient,
	"cs-method": RoleMethod, "cs-uri-stem": RolePath, "cs-uri": RolePath, "cs-version": RoleProto,
	"cs-protocol-version": RoleProto,
	"sc-status":           RoleStatus, "sc-bytes": RoleBytes, "bytes": RoleBytes,
	"x-edge-result-type": RoleCache, "s-cached": RoleCache, "cached": RoleCache,
}

// W3C is a format whose lines are described by the #Fields directives
// among them. Such a log is read in order.
func W3C(unit Unit) *Format {
	if unit == UnitUnknown {
		unit = DecimalSeconds
	}
	return &Format{Name: "W3C extended", Unit: unit, Directives: true, ex: noFields{}}
}

// noFields matches nothing: no #Fields directive has been seen.
type noFields struct{}

func (noFields) extract([]byte, *spans) bool { return false }

// withDirective returns the format after a directive line. Lines other than
// #Fields, #Software and #Start-Date change nothing.
func (f *Format) withDirective(line string) (*Format, error) {
	if f.header != "" {
		return f, nil
	}
	if software, ok := strings.CutPrefix(line, "#Software:"); ok && f.Unit == DecimalSeconds {
		g := *f
		g.software = true
		switch {
		case strings.Contains(software, "Microsoft"):
			g.Unit = Milliseconds
		case strings.Contains(software, "WebLogic"):
			g.Unit = Seconds
		}
		return &g, nil
	}
	if strings.HasPrefix(line, "#Start-Date:") && f.Unit == DecimalSeconds && !f.software { // ASP.NET Core's W3CLogger
		return f.WithUnit(Milliseconds), nil
	}
	list, ok := strings.CutPrefix(line, "#Fields:")
	if !ok {
		return f, nil
	}
	names := strings.Fields(list)
	if len(names) == 0 {
		return nil, fmt.Errorf("#Fields names no fields")
	}
	g := *f
	g.has = [NumRoles]bool{}
	p := new(columnPlan)
	for i, name := range names {
		r := w3cRoles[name]
		if name == "x-edge-location" && g.Unit == DecimalSeconds {
			g.Unit = Seconds
		}
		if r != RoleNone && !g.has[r] {
			g.has[r] = true
			p.columns = append(p.columns, column{i, r})
		}
	}
	p.count = len(names)
	if !g.has[RoleDuration] {
		return nil, fmt.Errorf("#Fields has no time-taken: add it to the fields the server logs")
	}
	g.ex = p
	return &g, nil
}

type column struct {
	index int
	role  Role
}

// columnPlan finds fields by their place among columns.
type columnPlan struct {
	columns []column // ascending
	count   int
	sep     byte // 0: blanks or tabs
}

func (p *columnPlan) extract(line []byte, s *spans) bool {
	wanted, n := 0, 0
	for pos := 0; pos <= len(line); n++ {
		lo, hi, next := p.value(line, pos)
		if wanted < len(p.columns) && p.columns[wanted].index == n {
			s[p.columns[wanted].role] = span{int32(lo), int32(hi)}
			wanted++
		}
		pos = next
	}
	return n == p.count
}

// value returns where the value at pos lies, and where the next one begins.
func (p *columnPlan) value(line []byte, pos int) (lo, hi, next int) {
	if p.sep != 0 {
		return separatedValue(line, pos, p.sep)
	}
	end := pos
	if pos < len(line) && line[pos] == '"' {
		// W3C strings are quoted, with a doubled quote inside.
		for end++; end < len(line) && (line[end] != '"' || end+1 < len(line) && line[end+1] == '"'); end++ {
			if line[end] == '"' {
				end++
			}
		}
		end = min(end+1, len(line))
	}
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		end++
	}
	return pos, end, end + 1
}

// headedPlan finds the columns of keys.
func headedPlan(names []string, keys map[Role]string, sep byte) extractor {
	p := &columnPlan{count: len(names), sep: sep}
	for i, name := range names {
		for r := range NumRoles {
			if keys[r] == name {
				p.columns = append(p.columns, column{i, r})
			}
		}
	}
	return p
}

// Separated returns the values between separators, without their quotes (RFC 4180).
func Separated(line []byte, sep byte) [][]byte {
	var out [][]byte
	for pos := 0; pos <= len(line); {
		lo, hi, next := separatedValue(line, pos, sep)
		out = append(out, line[lo:hi])
		pos = next
	}
	return out
}

// separatedValue returns where the value at pos lies without its quotes, and where
// the next one begins.
func separatedValue(line []byte, pos int, sep byte) (lo, hi, next int) {
	if pos < len(line) && line[pos] == '"' {
		for i := pos + 1; i < len(line); i++ {
			if line[i] != '"' {
				continue
			}
			if i+1 == len(line) || line[i+1] == sep {
				return pos + 1, i, i + 2
			}
			if line[i+1] == '"' {
				i++
			}
		}
	}
	if i := bytes.IndexByte(line[pos:], sep); i >= 0 {
		return pos, pos + i, pos + i + 1
	}
	return pos, len(line), len(line) + 1
}

// isDirective reports whether the line says something about those after it.
func (f *Format) isDirective(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte(ByteOrderMark))
	if f.header != "" {
		return string(line) == f.header
	}
	return len(line) > 0 && line[0] == '#'
}

// trimMark returns a directive without what some programs put before it.
func trimMark(line string) string {
	return strings.TrimSpace(strings.TrimPrefix(line, ByteOrderMark))
}

// ByteOrderMark begins UTF-8 text of some programs.
const ByteOrderMark = "\xef\xbb\xbf"

// UnderHeader returns the format for columns between separators that the first line names.
func (f *Format) UnderHeader(header string, names []string, keys map[Role]string, sep byte) *Format {
	g := *f
	g.Name, g.Directives, g.header, g.ex = "columns named by the first line", true, header, headedPlan(names, keys, sep)
	return &g
}

// NewEmpty makes the format of a log without lines.
func NewEmpty() *Format { return &Format{Name: "empty", ex: noFields{}} }
