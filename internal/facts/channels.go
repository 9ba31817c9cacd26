package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Channel is one of a radio's, as iw dev NAME survey dump shows it (iw survey.c): times in milliseconds.
type Channel struct {
	Interface string `json:"interface"`
	InUse     bool   `json:"in_use,omitempty"`
	Active    uint64 `json:"active_ms,omitempty"`
	Busy      uint64 `json:"busy_ms,omitempty"`
	// Sent is what the radio itself sent of the busy time, where SaysSent is set: not every driver tells it.
	Sent     uint64 `json:"sent_ms,omitempty"`
	SaysSent bool   `json:"says_sent,omitempty"`
	Source   Source `json:"source"` // that of the busy time
}

var (
	surveyOf   = regexp.MustCompile(`^\s*Survey data from (\S+)`)
	surveyTime = regexp.MustCompile(`^\s*channel (active|busy|transmit) time:\s+(\d+) ms`)
)

func (c *Channel) take(line string, at func() Source) bool {
	if strings.Contains(line, "[in use]") {
		c.InUse = true
		return true
	}
	m := surveyTime.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	v, _ := count(m[2])
	switch m[1] {
	case "active":
		c.Active = v
	case "busy":
		c.Busy, c.Source = v, at()
	default:
		c.Sent, c.SaysSent = v, true
	}
	return true
}
