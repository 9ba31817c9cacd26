package conffile

import (
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
)

// addressKeys are the keys of all the files of Linux whose values are addresses, in capitals; numbers behind them count
// them: address1, IPADDR0.
var addressKeys = map[string]bool{"ADDRESS": true, "ADDRESSES": true, "GATEWAY": true, "NETMASK": true, "BROADCAST": true,
	"IPADDR": true, "DNS": true, "VIA": true, "IP": true, "GW": true, "IP6ADDR": true, "IPV6ADDR": true, "NAMESERVERS": true}

// addressed looks for what is no address in a value that holds some, by its key.
func (s *scanner) addressed(key string, line int, value Span) {
	key = strings.ToUpper(strings.TrimRight(key[strings.LastIndexByte(key, '.')+1:], "0123456789"))
	if addressKeys[key] {
		s.addresses(word{line: line, span: value, text: s.text(value)}, key == "NETMASK")
	}
}

// addressWords looks for the same among the words of a command.
func (s *scanner) addressWords(words []word) {
	for i, w := range words {
		if !w.expands {
			s.addresses(w, i > 0 && words[i-1].text == "netmask")
		}
	}
}

// addresses rejects what is no address among those in a word, with blanks or commas between them.
func (s *scanner) addresses(w word, mask bool) {
	if s.stopped || s.system != Linux || len(w.text) > maxPath {
		return
	}
	for _, text := range strings.FieldsFunc(w.text, func(r rune) bool { return strings.ContainsRune(" \t,;\"'[]", r) }) {
		why := mistaken(text)
		if at, err := netip.ParseAddr(text); mask && err == nil && at.Is4() {
			why = noMask(at)
		}
		if why != "" {
			s.rejected(Reject{Line: w.line, Span: w.span, Reason: text + " is " + why, certain: true,
				Because: "The line is refused, so the interface or route is not configured."})
			return
		}
	}
}

// mistaken says why a text that looks like an address is none, "" where it is one or looks like something else.
func mistaken(text string) string {
	address, length, _ := strings.Cut(text, "/")
	numbers := strings.Split(address, ".")
	switch {
	case len(numbers) > 2 && strings.ContainsAny(address, "0123456789") && strings.Trim(address, "0123456789.") == "":
		for _, n := range numbers {
			if v, err := strconv.Atoi(n); err != nil {
				return "not a valid IPv4 address: a number is missing"
			} else if v > 255 {
				return "not a valid IPv4 address: " + n + " is above 255"
			}
		}
		if len(numbers) > 4 {
			return fmt.Sprintf("not a valid IPv4 address: it has %d numbers", len(numbers))
		}
		if v, err := strconv.Atoi(length); err == nil && v > 32 {
			return "not a valid IPv4 prefix: its length is above 32"
		}
	case strings.Count(address, ":") > 1 && len(address) != len("00:00:00:00:00:00") && strings.Trim(address, "0123456789abcdefABCDEF:") == "":
		if _, err := netip.ParseAddr(address); err != nil {
			return "not a valid IPv6 address"
		}
		if v, err := strconv.Atoi(length); err == nil && v > 128 {
			return "not a valid IPv6 prefix: its length is above 128"
		}
	}
	return ""
}

// noMask says why an address is no netmask, "" where it is one.
func noMask(at netip.Addr) string {
	b := at.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	if bits.LeadingZeros32(^v)+bits.TrailingZeros32(v) >= 32 {
		return ""
	}
	return "not a valid netmask: its one bits are not contiguous"
}
