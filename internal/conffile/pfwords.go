package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// pfKeywords are the words that a filter rule is made of, those of OpenBSD and of FreeBSD (lookup of pfctl's parse.y).
var pfKeywords = strings.Fields(`af-to all allow-opts binat-to bitmask code divert-packet divert-reply divert-to dnpipe dnqueue
	drop dup-to fastroute flags fragment from group icmp-type icmp6-type in inet inet6 keep label least-states log
	match max-pkt-rate max-pkt-size modulate nat-to no on once os out port prio probability proto queue quick random rdr-to
	received-on reply-to return return-icmp return-icmp6 return-rst ridentifier round-robin route-to rtable scrub set
	source-hash static-port sticky-address state synproxy tag tagged to tos ttl user`)

// pfArguments are the words behind which one word, a list or a group in parentheses stands that is no keyword.
var pfArguments = strings.Fields(`on proto from to port user group label tag tagged queue icmp-type icmp6-type code flags os rtable
	probability prio tos ttl nat-to rdr-to binat-to route-to reply-to dup-to divert-to received-on max-pkt-rate max-pkt-size
	dnpipe dnqueue ridentifier source-hash log state scrub return-rst return-icmp return-icmp6 return set`)

// pfOptional are those behind which it may be missing.
var pfOptional = []string{"source-hash", "log", "state", "return-rst", "return-icmp", "return-icmp6", "return", "from", "to"}

// pfMisspelt rejects a word of a filter rule that is one slip away from a keyword, where a keyword has to stand.
func (s *scanner) pfMisspelt(words []word) {
	if !slices.Contains([]string{"pass", "block", "match"}, words[0].text) {
		return
	}
	reached := word{}
	for i := 1; i < len(words); {
		w := words[i]
		if w.quoted || w.expands {
			return // which may stand for anything
		}
		place := pfPlaces[w.text]
		if place == 0 && slices.Contains(pfKeywords, w.text) && !slices.Contains(pfAnywhere, w.text) &&
			(s.system == OpenBSD || !slices.Contains(pfRoutes, w.text)) {
			place = pfLast
		}
		if place > 0 && place < pfPlaces[reached.text] || place > 0 && place < pfLast && reached.text != "" && pfPlaces[reached.text] == 0 {
			s.reject(w.line, w.span, w.text+" belongs before "+reached.text+": the order in a rule is direction, log and quick, on, inet, proto, from, to, "+
				"then all other options")
			return
		}
		if at := pfPlaces[reached.text]; w.text == "port" && at > 0 && at < pfPlaces["from"] {
			s.reject(w.line, w.span, "port stands behind from or to (fromto of pfctl's parse.y): write to any port, or to port")
			return
		}
		if w.text == "af-to" {
			return // which takes a family and hosts of its own
		}
		if place >= max(pfPlaces[reached.text], 1) {
			reached = w
		}
		if !slices.Contains(pfKeywords, w.text) {
			if meant := pfMeant(w.text); meant != "" {
				s.reject(w.line, w.span, "pfctl does not know "+w.text+" here; did you mean "+meant+"?")
			}
			return
		}
		i++
		if slices.Contains(pfArguments, w.text) {
			i = pfArgumentEnd(words, i, w.text)
		}
	}
}

// pfPlaces are the words of a rule that have their place (pfrule of pfctl's parse.y), and pfLast is that of the others.
var pfPlaces = map[string]int{"in": 1, "out": 1, "log": 2, "quick": 2, "on": 3, "inet": 5, "inet6": 5, "proto": 6, "all": 7, "from": 7, "to": 8}

const pfLast = 9

// pfAnywhere are words of the action and of hosts.
var pfAnywhere = []string{"return", "return-rst", "return-icmp", "return-icmp6", "drop", "port", "os", "ttl"}

// pfRoutes are what FreeBSD writes between the interface and the family: the route, and how its hosts are chosen (route, pool_opts of parse.y).
var pfRoutes = strings.Fields(`route-to reply-to dup-to fastroute bitmask random round-robin source-hash sticky-address static-port
	nat-to rdr-to binat-to divert-to af-to`)

// pfMeant is the keyword that a word is one slip away from.
func pfMeant(text string) string {
	if len(text) < 2 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return ""
	}
	if verb, state := strings.CutSuffix(text, "-state"); state && slices.Contains(pfKeywords, verb) {
		return verb + " state"
	}
	for _, keyword := range pfKeywords {
		swapped := len(text) == 2 && len(keyword) == 2 && text[0] == keyword[1] && text[1] == keyword[0]
		if swapped || len(text) > 3 && len(keyword) > 3 && spelling.Slip(text, keyword) {
			return keyword
		}
	}
	return ""
}

// pfArgumentEnd is where what an option takes ends that begins at a word.
func pfArgumentEnd(words []word, i int, option string) int {
	for i < len(words) && (words[i].text == "!" || words[i].text == "=" || words[i].text == "<" || words[i].text == ">" ||
		option == "port" && strings.Trim(words[i].text, "<>") == "" || words[i].text == "rdomain") {
		i++
	}
	if i == len(words) || slices.Contains(pfOptional, option) && slices.Contains(pfKeywords, words[i].text) && !words[i].quoted {
		return i
	}
	if option == "log" || strings.HasPrefix(option, "return") || option == "state" || option == "scrub" {
		if words[i].text != "(" {
			return i
		}
	}
	if option == "set" && words[i].text != "(" {
		return i // a keyword with its own argument
	}
	if open := words[i].text; open == "{" || open == "(" {
		for depth := 0; i < len(words); i++ {
			switch words[i].text {
			case "{", "(":
				depth++
			case "}", ")":
				depth--
			}
			if depth == 0 {
				break
			}
		}
	}
	i++
	hosts := option == "from" || option == "to"
	if i < len(words) && hosts && (strings.HasPrefix(words[i].text, "/") || words[i-1].text == "route") {
		i++ // the prefix of an interface in parentheses; a label of routes
	}
	if i+1 < len(words) && ((option == "port" || option == "user" || option == "group") &&
		(words[i].text == "><" || words[i].text == "<>" || words[i].text == ":") || hosts && words[i].text == "-") {
		i += 2 // a range
	}
	return min(i, len(words))
}
