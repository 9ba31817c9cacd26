package weblog

import (
	"fmt"
	"strings"
)

// w3cRoles maps the fields of the W3C extended log file format
// (https://www.w3.org/TR/WD-logfile.html) as IIS and CloudFront use them.
var w3cRoles = map[string]role{
	"time-taken": roleDuration, "date": roleTime, "time": roleTime2, "c-ip": roleClient,
	"cs-method": roleMethod, "cs-uri-stem": rolePath, "cs-uri": rolePath, "cs-version": roleProto, "cs-protocol-version": roleProto,
	"sc-status": roleStatus, "sc-bytes": roleBytes, "bytes": roleBytes,
	"x-edge-result-type": roleCache, "s-cached": roleCache, "cached": roleCache,
}

// w3cFormat is a format whose lines are described by the #Fields directives
// among them. Such a log is read in order.
func w3cFormat(unit Unit) *Format {
	if unit == UnitUnknown {
		unit = decimalSeconds
	}
	return &Format{Name: "W3C extended", Unit: unit, directives: true, ex: noFields{}}
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
	if software, ok := strings.CutPrefix(line, "#Software:"); ok && f.Unit == decimalSeconds {
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
	if strings.HasPrefix(line, "#Start-Date:") && f.Unit == decimalSeconds && !f.software { // ASP.NET Core's W3CLogger
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
	g.Text = strings.Join(names, " ")
	g.has = [numRoles]bool{}
	p := new(columnPlan)
	for i, name := range names {
		r := w3cRoles[name]
		if name == "x-edge-location" && g.Unit == decimalSeconds {
			g.Unit = Seconds
		}
		if r != roleNone && !g.has[r] {
			g.has[r] = true
			p.columns = append(p.columns, column{i, r})
		}
	}
	p.count = len(names)
	if !g.has[roleDuration] {
		return nil, fmt.Errorf("#Fields has no time-taken: add it to the fields the server logs")
	}
	g.ex = p
	return &g, nil
}

type column struct {
	index int
	role  role
}

// columnPlan finds fields by their place among columns.
type columnPlan struct {
	columns []column // ascending
	count   int
	sep     byte // 0: blanks or tabs
}

func (p *columnPlan) extract(line []byte, s *spans) bool {
	if p.sep != 0 {
		return p.extractSeparated(line, s)
	}
	next, n := 0, 0
	for pos := 0; pos <= len(line); n++ {
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
		if next < len(p.columns) && p.columns[next].index == n {
			s[p.columns[next].role] = span{int32(pos), int32(end)}
			next++
		}
		pos = end + 1
	}
	return n == p.count
}

// extractSeparated is extract for columns between separators.
func (p *columnPlan) extractSeparated(line []byte, s *spans) bool {
	wanted, n := 0, 0
	for pos := 0; pos <= len(line); n++ {
		lo, hi, next := separatedValue(line, pos, p.sep)
		if wanted < len(p.columns) && p.columns[wanted].index == n {
			s[p.columns[wanted].role] = span{int32(lo), int32(hi)}
			wanted++
		}
		pos = next
	}
	return n == p.count
}
