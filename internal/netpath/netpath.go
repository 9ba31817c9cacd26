// Package netpath is what the traffic between two hosts crosses: rate, round-trip time, loss and MTU.
package netpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// Path is what the traffic between two hosts crosses.
type Path struct {
	Rate units.Rate    // of the bottleneck, bit/s on the wire
	RTT  time.Duration // base round-trip time, without queues
	Loss float64       // probability that a segment is lost
	MTU  int           // bytes of the largest IP packet
	// Measured says how each of rate, rtt, loss and mtu was measured; what is
	// not in it was declared.
	Measured map[string]string
}

const (
	defaultMTU = 1500
	maxRate    = 2 * units.Tbit
	maxRTT     = 5 * time.Second
	minMTU     = 576
	maxMTU     = 65535
)

// EthernetOverhead is what a frame adds to its IP packet on the wire, in
// bytes: preamble 8, header 14, frame check sequence 4, inter-frame gap 12
// (IEEE 802.3, clauses 3 and 4).
const EthernetOverhead = 38

// Parse parses rate=1gbit,rtt=80ms[,loss=1e-5][,mtu=1500]; a rate and a time may
// stand without their names: 1gbit,80ms.
func Parse(spec string) (Path, error) {
	fields, err := units.ParseFields(named(spec))
	if err != nil {
		return Path{}, fmt.Errorf("path %q: %w; write it like rate=1gbit,rtt=80ms", spec, err)
	}
	p := Path{MTU: defaultMTU}
	for _, f := range fields {
		switch f.Key {
		case "rate":
			p.Rate, err = units.ParseRate(f.Value)
		case "rtt":
			p.RTT, err = units.ParseDuration(f.Value)
		case "loss":
			p.Loss, err = parseLoss(f.Value)
		case "mtu":
			p.MTU, err = strconv.Atoi(f.Value)
			if err != nil {
				err = fmt.Errorf("mtu %q: bytes are expected, like 1500", f.Value)
			}
		default:
			err = fmt.Errorf("unknown key %q; known are rate, rtt, loss, mtu", f.Key)
		}
		if err != nil {
			return Path{}, fmt.Errorf("path %q: %w", spec, err)
		}
	}
	if err := p.Check(); err != nil {
		return Path{}, fmt.Errorf("path %q: %w", spec, err)
	}
	return p, nil
}

// named gives a rate and a time that stand alone their keys; a space may stand
// between the two.
func named(spec string) string {
	parts := strings.Split(spec, ",")
	for i, part := range parts {
		if strings.Contains(part, "=") {
			continue
		}
		for at, c := range part + " " {
			if rate, rest := part[:at], strings.TrimSpace(part[at:]); c == ' ' && isRate(rate) && (rest == "" || isTime(rest)) {
				parts[i] = "rate=" + rate
				if rest != "" {
					parts[i] += ",rtt=" + rest
				}
			}
		}
		if isTime(part) {
			parts[i] = "rtt=" + part
		}
	}
	return strings.Join(parts, ",")
}

// isRate tells a rate, also one in bytes, which is refused with what it is in bits.
func isRate(s string) bool {
	_, err := units.ParseRate(s)
	return strings.ContainsAny(s, "bB") && (err == nil || errors.Is(err, units.ErrBytes))
}

func isTime(s string) bool {
	_, err := units.ParseDuration(s)
	return err == nil
}

func parseLoss(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, fmt.Errorf("loss %q: a probability below 1 is expected, like 1e-5 or 0.1%%", s)
	}
	return v, nil
}

// Check reports a path that cannot be.
func (p Path) Check() error {
	switch {
	case p.Rate <= 0:
		return errors.New("rate is missing or 0; write it like rate=1gbit")
	case p.Rate > maxRate:
		return fmt.Errorf("rate %s is above %s", p.Rate, maxRate)
	case p.RTT <= 0:
		return errors.New("rtt is missing or 0; write it like rtt=80ms")
	case p.RTT > maxRTT:
		return fmt.Errorf("rtt %s is above %s", units.Duration(p.RTT), units.Duration(maxRTT))
	case p.MTU < minMTU || p.MTU > maxMTU:
		return fmt.Errorf("mtu %d is not between %d and %d", p.MTU, minMTU, maxMTU)
	case p.Loss < 0 || p.Loss >= 1:
		return fmt.Errorf("loss %g is not a probability below 1", p.Loss)
	}
	return nil
}

// String prints the path as Parse reads it.
func (p Path) String() string {
	s := fmt.Sprintf("rate=%s,rtt=%s", p.Rate.Typed(), units.TypedDuration(p.RTT))
	if p.Loss > 0 {
		s += fmt.Sprintf(",loss=%s", units.Digits(p.Loss, 3))
	}
	if p.MTU != defaultMTU {
		s += fmt.Sprintf(",mtu=%d", p.MTU)
	}
	return s
}

// BDP returns the bandwidth-delay product in bytes.
func (p Path) BDP() units.Bytes { return units.BDP(p.Rate, p.RTT) }

// MSS returns the TCP payload of a full segment over IPv4 with timestamps:
// the MTU less 20 bytes of IP, 20 of TCP and 12 of options (RFC 9293, section
// 3.7.1; RFC 7323, section 3.2).
func (p Path) MSS() int { return p.MTU - 52 }

// LinkGoodput returns the TCP payload rate of the path's Ethernet link when
// every segment is full (RFC 6349, section 4.1.1, with the preamble and the
// inter-frame gap), in bit/s.
func (p Path) LinkGoodput() float64 {
	return float64(p.Rate) * float64(p.MSS()) / float64(p.MTU+EthernetOverhead)
}
