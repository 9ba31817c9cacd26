package diagnose

import (
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

// These rules judge a post without any output by what its sentences say.

// statement is one sentence of a post, with the line at which it begins.
type statement struct {
	text string
	line int
}

// statements are the sentences of a text, over the lines that a mail or an editor wrapped; sentenceEnd ends them.
func statements(text string) (out []statement) {
	const longest = 4096
	at, begin, run := 0, 0, ""
	flush := func() {
		for s := range strings.SplitSeq(sentenceEnd.ReplaceAllString(run, "\n"), "\n") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, statement{s, begin})
			}
		}
		run = ""
	}
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSpace(line)
		goesOn := run != "" && line != "" && line[0] >= 'a' && line[0] <= 'z' && len(run)+len(line) < longest
		if !goesOn {
			flush()
			begin = at
		}
		if len(line) <= longest {
			run = strings.TrimSpace(run + " " + line)
		}
	}
	flush()
	return out
}

// sentenceEnd leaves a question mark with its sentence.
var sentenceEnd = regexp.MustCompile(`[.!;:] |[.!;:]$|[()]|\s-{1,3}\s`)

// certain are the statements of words alone without a word that makes them a question, a condition or a denial.
func certain(f *facts.Facts) []statement {
	if f.NoOutput == nil {
		return nil
	}
	return slices.DeleteFunc(statements(f.Rest), func(s statement) bool {
		return unsure.MatchString(settled.ReplaceAllString(s.text, ""))
	})
}

// says finds the first of the statements that an expression matches.
func says(said []statement, form *regexp.Regexp) (statement, bool) {
	i := slices.IndexFunc(said, func(s statement) bool { return form.MatchString(s.text) })
	if i < 0 {
		return statement{}, false
	}
	return said[i], true
}

// unsure is of what was not tried, did not help, or is asked.
var unsure = regexp.MustCompile(`(?i)\b(?:not|never|no|nor|neither|cannot|would|could|should|might|may|maybe|perhaps|whether|wonder\w*|try|hope\w*|` +
	`expect\w*|didn'?t|doesn'?t|don'?t|isn'?t|wasn'?t|won'?t|can'?t|nothing|without (?:success|effect|luck))\b|n’t\b|\?`)

// settled are words of such a kind that tell a state.
var settled = regexp.MustCompile(`(?i)\bno longer\b|\bnever (?:loads?|finish\w*|complet\w*)`)

// saidAt is the line of a post as the source of a finding.
func saidAt(f *facts.Facts, s statement) []facts.Source {
	return []facts.Source{{From: f.Host, Line: s.line, Text: terminal.Clip(s.text, 160)}}
}

// aChange is something that people change, and what it tells where that helped.
type aChange struct {
	subject       string
	helped        *regexp.Regexp
	tells, remedy string
}

// changes are tried in this order.
var changes = []aChange{
	{"MTU", helpedForm(`(?:mtu|mss)`), "packets of the full size did not pass the path, or only in fragments",
		"keep that MTU, or clamp the MSS on the router (iptables: TCPMSS --clamp-mss-to-pmtu; pf: scrub max-mss), and let ICMP " +
			"\"fragmentation needed\" and \"packet too big\" pass"},
	{"flow offload", helpedForm(`(?:(?:hardware |software |flow )+off-?load(?:ing)?|packet steering|rps|irqbalance|fasttrack)`),
		"forwarding costs more than one core of the router has",
		"keep it, and check with mpstat -P ALL 1 that no core is at its limit"},
	{"offloads", helpedForm(`(?:tso|gso|gro|lro|lso|(?:tcp |checksum |segmentation |receive |tx |rx )+off-?load(?:s|ing)?|off-?load(?:s|ing)?)`),
		"the card, its driver or the hypervisor handles that offload badly",
		"keep it off on that interface alone and across reboots, and look for a newer driver, firmware or hypervisor"},
	{"card model", helpedForm(`(?:rtl8139|e1000e?|vmxnet ?[23]?|virtio(?:-net)?)`), "the card that the hypervisor emulates is slow", paravirtual},
	{"shaper", helpedForm(`(?:sqm|qos|(?:traffic )?shap(?:er|ing)|cake|fq_codel|limiter)`),
		"the shaper's rate, or the processor that it runs on, was the limit",
		"measure the line without it, then set about 90% of that rate; a shaper needs the processor for each packet"},
	{"inspection", helpedForm(`(?:suricata|snort|ips|ids|dpi|ntopng|netflow|antivirus|deep packet inspection)`), "the inspection of each packet was the limit",
		"leave it off for this traffic, or give it more cores"},
	{"link", helpedForm(`(?:cables?|patch cord|sfp\+?|transceivers?|optics?|switch port|auto-?neg\w*|duplex|dac)`),
		"the link itself lost packets or ran at a lower speed",
		"check the negotiated speed and duplex and the error counters of both ends (ethtool -S, ifconfig, netstat -i)"},
	{"power saving", helpedForm(`(?:eee|energy[- ]efficient ethernet|power[- ]?sav(?:e|ing)|power management|c-?states?|aspm)`),
		"a power-saving state delayed packets or lost them", "keep it off across reboots"},
	{"TCP option", helpedForm(`(?:window scaling|tcp timestamps|sack|ecn)`), "something on the path removes or rewrites that TCP option",
		"find the firewall or router that does, and mend it there; off, the option costs speed on long paths"},
	{"queue", helpedForm(`(?:txqueuelen|queue length|ring buffers?|ring size)`), "bursts were dropped in a queue that was too short",
		"keep that length, and check that the delay under load stays low (ping during a transfer)"},
}

// helpedForm is a sentence that says that changing a thing helped, or that the thing was the cause.
func helpedForm(thing string) *regexp.Regexp {
	thing = `\b` + thing + `\b`
	const (
		changing = `\b(?:disabl|turn|switch|remov|chang|set|lower|reduc|rais|increas|enabl|replac|swapp|comment)(?:e|ed|es|ing|ting|ning)?\b`
		helped   = `(?:fix(?:es|ed)|solv(?:es|ed)|resolv(?:es|ed)|help(?:s|ed)|restor(?:es|ed)|cured?|improv(?:es|ed)|doubl(?:es|ed)|tripl(?:es|ed)|` +
			`did the trick|back to (?:normal|full)|full speed|much faster|(?:large|huge|big|significant) .{0,30}(?:increase|improvement)|` +
			`goes away|went away|speeds? up|jump(?:s|ed)|(?:now|everything) (?:works|seems|is fine))`
	)
	return regexp.MustCompile(`(?i)` + changing + `.{0,60}` + thing + `.{0,90}\b` + helped + `\b|` +
		`\b` + helped + `\b.{0,60}\b(?:by|when|after|once|if)\b.{0,20}` + changing + `.{0,50}` + thing + `|` +
		thing + `(?: \w+){0,2} (?:has |have |had )?(?:fixed|solved|resolved|helped|did the trick)\b|` +
		`\b(?:problem|cause|culprit|issue|reason|bottleneck|it) (?:was|turned out to be|were) (?:\w+ ){0,3}` + thing)
}

// changeHelped finds what helped according to a post.
func changeHelped() Rule {
	return Rule{
		ID: "change-helped", Title: "According to the text, one change made it faster", Severity: Info, Needs: []string{"identity"},
		Because: "What helps when it is changed alone is at least a part of the cause.",
		Confirm: "The change alone, made and taken back twice, shows the same difference (wirerate trial).",
		Check: func(in Input) []Finding {
			said := certain(in.Facts)
			for _, c := range changes {
				if s, ok := says(said, c.helped); ok {
					return decisive(do(c.remedy, one(c.subject, saidAt(in.Facts, s), "according to the text, this is what mattered: %s", c.tells)))
				}
			}
			return nil
		},
		Fires: inWordsAlone("Disabling LRO on the router fixed the slow downloads.\n"),
		Quiet: inWordsAlone("Disabling LRO on the router did not fix the slow downloads.\n"),
	}
}

// aCounter is a counter of which people tell that it grows, and what that means.
type aCounter struct {
	grows         *regexp.Regexp
	tells, remedy string
}

// countersTold are of mlx5 (Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst), ena
// (drivers/net/ethernet/amazon/ena) and the names of many drivers.
var countersTold = []aCounter{
	{grownForm(`rx_discards_phy|rx_prio\d_discards|rx_discards`),
		"the card's own buffer was full: the bus, the host's memory or the number of queues did not keep up with the port",
		"check the card's link to the bus (lspci -vv: LnkSta), use more queues on the cores of its NUMA node (ethtool -L NAME combined N), and " +
			"where a switch can wait, enable pause frames (ethtool -A NAME rx on)"},
	{grownForm(`rx_out_of_buffer|rx_nodesc_drop\w*|rx_missed_errors|rx_no_dma_resources|rx_no_buffer_count|rx_fifo_errors|rx_over_errors`),
		"the receive ring was full: the host took packets too slowly, or bursts were longer than the ring",
		"use a longer ring (ethtool -g NAME shows the maximum, ethtool -G NAME rx N sets it) and more queues (ethtool -L NAME combined N), and " +
			"check that no core is at its limit (mpstat -P ALL 1)"},
	{grownForm(`(?:bw_in|bw_out|pps|conntrack)_allowance_exceeded`),
		"the instance reached a limit of its type, and the cloud dropped packets or kept them waiting",
		"use a larger instance type, or less traffic at its peaks"},
}

// grownForm is a sentence in which a counter grows or is above zero.
func grownForm(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + name + `)\b[^,]{0,24}\b(?:(?:increas|grow|increment|climb|ris)(?:es?|s|ing)|go(?:es|ing) up)\b|\b(?:` + name + `)(?:_?total)?\W{0,3}(?: is| at| of|=|≈)[ ~]*[1-9][\d,.]*` +
		`|\b(?:increas|grow|climb|ris)ing (?:\w+ ){0,2}(?:` + name + `)\b`)
}

// counterTold finds a counter of losses that grows according to a post.
func counterTold() Rule {
	return Rule{
		ID: "counter-told", Title: "According to the text, a counter of lost packets grows", Severity: Info, Needs: []string{"identity"},
		Because: "The counter counts packets that were dropped; senders have to send them again.",
		Confirm: "ethtool -S NAME, read twice under load, shows by how much the counter grows.",
		Check: func(in Input) []Finding {
			said := certain(in.Facts)
			for _, c := range countersTold {
				if s, ok := says(said, c.grows); ok {
					return decisive(do(c.remedy, one("counter", saidAt(in.Facts, s), "according to the text, %s", c.tells)))
				}
			}
			return nil
		},
		Fires: inWordsAlone("On both nodes rx_out_of_buffer is increasing by thousands per second.\n"),
		Quiet: inWordsAlone("On both nodes rx_out_of_buffer = 0 and rx_discards_phy is not increasing.\n"),
	}
}

// mtuTold finds what a post says of packets that are too large for a tunnel.
func mtuTold() Rule {
	return Rule{
		ID: "mtu-told", Title: "The text describes packets that are too large for the path", Severity: Info, Needs: []string{"identity"},
		Because: "A tunnel, PPPoE too, adds its own headers: full-sized packets no longer fit, and are dropped or fragmented. Small ones, " +
			"such as those of ping and of a login, still pass.",
		Confirm: "ping -M do -s 1372 ADDRESS (FreeBSD, OpenBSD: ping -D -s 1372) through the tunnel is answered, -s 1472 is not.",
		Check: func(in Input) []Finding {
			f, said := in.Facts, certain(in.Facts)
			if !tunnelWord.MatchString(f.Rest) {
				return nil
			}
			const remedy = "lower the tunnel's MTU until full-sized packets pass (WireGuard: 1420, over PPPoE 1412, in another tunnel less), or " +
				"clamp the MSS on the router; let ICMP \"fragmentation needed\" pass"
			for _, form := range []*regexp.Regexp{mtuFull, mtuNamed} {
				if s, ok := says(said, form); ok {
					return decisive(do(remedy, one("MTU", saidAt(f, s), "according to the text, the MTU or fragments are the problem")))
				}
			}
			small, passes := says(said, smallPasses)
			if large, hangs := says(said, largeHangs); passes && hangs {
				return decisive(do(remedy, one("MTU", append(saidAt(f, small), saidAt(f, large)...), "small packets pass, large transfers hang")))
			}
			return nil
		},
		Fires: inWordsAlone("Over the IPsec tunnel ping works.\nCopying large files hangs.\n"),
		Quiet: inWordsAlone("Over the IPsec tunnel ping works.\nCopying large files takes an hour.\n"),
	}
}

var (
	tunnelWord = regexp.MustCompile(`(?i)\b(?:wireguard|wg\d?|tunnels?|vpn|openvpn|ipsec|gre|ipip|vxlan|l2tp|pppoe|tailscale|zerotier|6in4)\b`)
	// mtuFull is a tunnel with the MTU of Ethernet, mtuNamed a sentence that names the size as the trouble.
	mtuFull  = regexp.MustCompile(`(?i)\b(?:set|forced?|have|has|with|use[sd]?)\b.{0,30}\bMTU\b.{0,12}\b1500\b.{0,40}\b(?:wg\d?|wireguard|tunnels?|tun\d?)\b`)
	mtuNamed = regexp.MustCompile(`(?i)\bmtu (?:is|was|being) too (?:large|big|high)|\bmtu (?:problem|issue|mismatch)|` +
		`\bfragment(?:ation|ed)\b.{0,40}\b(?:errors?|was happening|happens|occurs|packets)|\bpackets? (?:was|were|are|is|get|being)? ?fragmented|` +
		`\b(?:unreassembled|reassembly (?:errors?|failures?))|\bpmtud?\b.{0,30}\b(?:broken|fails|blocked|black ?hole)|\bblack ?hole`)
	smallPasses = regexp.MustCompile(`(?i)\b(?:ping|pings|icmp|dns|handshake|ssh|login|small (?:packets|files|pages|downloads?))\b.{0,50}` +
		`\b(?:works?|fine|ok|okay|good|succeeds?|instant|flies|normal|go(?:es)? through|pass(?:es)?)\b`)
	largeHangs = regexp.MustCompile(`(?i)\b(?:scp|sftp|rsync|https?|tls|web ?sites?|sites|pages?|curl|large|big|git|downloads?|uploads?|transfers?|` +
		`file cop(?:y|ies)|copying|smb|rdp)\b.{0,60}\b(?:hangs?|stalls?|freezes?|times? out|timing out|time-?outs?|never (?:load|finish|complete)\w*)\b`)
)

// windowTold finds a rate and a round trip in a post that tell a window.
func windowTold() Rule {
	return Rule{
		ID: "window-told", Title: "The rates in the text tell a window that is too small", Severity: Info, Needs: []string{"identity"},
		Because: "A sender transfers at most one window per round trip; several connections have a window each. Losses on the path have " +
			"the same effect.",
		Confirm: "ss -ti on the sender shows rwnd_limited or sndbuf_limited, and few retransmissions.",
		Check: func(in Input) []Finding {
			if in.Facts.NoOutput == nil {
				return nil
			}
			found := unscaledWindow(in.Facts)
			if found == nil {
				found = severalAreFaster(in.Facts)
			}
			return decisive(with(Info, found))
		},
		Fires: toldExample(6),
		Quiet: toldExample(60),
	}
}

// toldRateOf100 finds a rate in a post that is the full one of a link of 100 Mbit/s.
func toldRateOf100() Rule {
	return Rule{
		ID: "rate-of-100-told", Title: "The rate in the text is that of a 100 Mbit/s link", Severity: Info, Needs: []string{"identity"},
		Because: "94 Mbit/s of TCP is the full rate of a 100 Mbit/s link: a port, a cable with a damaged pair, an adapter or a shaper " +
			"on the path runs at that rate.",
		Confirm: oneSlowPort,
		Check: func(in Input) []Finding {
			f := in.Facts
			if s, ok := says(certain(f), limitOf100); ok {
				return decisive(do(checkSpeeds, one("link", saidAt(f, s), "according to the text, the limit is 100 Mbit/s")))
			}
			if alone := f.Told.Alone; f.NoOutput != nil && f.Told.Rate > 110*units.Mbit && filledLink(float64(alone.Rate)) == 100*units.Mbit {
				return decisive(do(checkSpeeds, one("link", []facts.Source{alone.Source, f.Told.RateSource}, "%s on a line of %s: the full rate "+
					"of a 100 Mbit/s link", alone.Rate, f.Told.Rate)))
			}
			return nil
		},
		Fires: inWordsAlone("All traffic from the clients seems to hit a hard limit of 100mbit.\n"),
		Quiet: inWordsAlone("All traffic from the clients seems to hit a hard limit of 400mbit.\n"),
	}
}

// limitOf100 is a sentence of a limit that is just that of such a link.
var limitOf100 = regexp.MustCompile(`(?i)\b(?:hard limit of|exactly|capped at|limited to|stuck at|(?:links?|negotiat\w+|connect\w*) (?:at|to)(?: only)?) ` +
	`(?:only |about |around |~ ?)?(?:9[3-5]|100) ?(?:mb|mbit|mbps|mb/s|mbit/s|m)\b`)

func inWordsAlone(post string) Example {
	return Example{Texts: map[string]string{"uname -a": unameLinux}, Post: post, Alone: true}
}

// toldExample is a post with a rate, in Mbit/s, over 80 ms.
func toldExample(rate float64) Example {
	const post = "The text tells a rate and a round trip."
	e, at := inWordsAlone(post+"\n"), facts.Source{From: "example", Line: 1, Text: post}
	e.Told = facts.Told{RTT: 80 * time.Millisecond, RTTSource: at,
		Alone: facts.TransferEnd{Rate: units.Rate(rate * 1e6), Retransmits: -1, Lost: -1, Source: at}}
	return e
}
