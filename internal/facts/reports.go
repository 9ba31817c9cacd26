package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// A Report is a line in which a program's log, or the kernel's, tells a failure in words of its own.
type Report struct {
	// Program is what wrote the line; empty where it does not name itself.
	Program string
	Failure Failure
}

// A Failure is what a log's line tells.
type Failure int

// The failures, those first that explain others: what a device, a full buffer or a damaged packet ends times out as well.
const (
	NoFailure   Failure = iota
	DeviceFails         // a card or its firmware hung, crashed or was reset
	Exhausted           // a limit was reached, a buffer is full
	Lost                // packets or messages were thrown away
	Damaged             // what arrived did not match its checksum
	LinkLost            // a link or a carrier was lost
	Throttled           // somebody limits the rate
	Refused             // a connection was refused or reset
	Silent              // nobody answered in time
	Slow                // something took longer than the program expects
)

// reportLimit bounds the length of a line that is looked at, in bytes.
const reportLimit = 2048

// LogStamp is the begin of a line of a log: a time, a level, an exception's name, or that of a tool that says why it failed.
var LogStamp = regexp.MustCompile(`^\W{0,4}\[ *\d{1,9}\.\d+\]|^<\d+>|` +
	`^\W{0,4}\d{4}[-/.]\d\d[-/.]\d\d[T ]?\S*|^\W{0,4}\d\d:\d\d:\d\d\S*|` +
	`^\W{0,4}(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} +\d+ (?:\d{4} )?\d\d:\d\d:\d\d\S*|` +
	`^[IWEF]\d{4} \d\d:\d\d:\d\d\S*|^\W{0,4}\d\d[./-](?:\d\d|[A-Z][a-z]{2})[./-]\d{4}[: ]\d\d:\d\d\S*|` +
	`^(?:time|ts)=\S+|^\{"(?:level|time|ts|timestamp|@timestamp)":|` +
	`^\W{0,3}(?:ERROR|WARN|FATAL|CRITICAL|SEVERE)\b[:\] ]|^(?:error|fatal|Error|ERR): |^(?:[\w$]+\.)*[A-Z]\w*(?:Exception|Error|Timeout): |` +
	`^[\w.-]{3,30}: \d+\.\d{3,9}s: (?:<\S+> )?|` + // cloud-hypervisor, with the thread
	`^(?:curl|wget|rsync|ssh|scp|sftp|nc|psql|mysql|mount(?:\.nfs)?|npm ERR!|docker|kubectl): `)

// composed is what docker compose and kubectl put in front of each line: the name of the container.
var composed = regexp.MustCompile(`^\W{0,2}[\w.-]+ +\| `)

// programOf is who wrote a line: "host name[12]: ", "name[12]: ", "name: ", in front of it perhaps a level.
var (
	programOf = regexp.MustCompile(`^(?:[\w.-]+ )?([A-Za-z][\w./@-]{1,40})(?:\[\d+\])?: `)
	logLevel  = regexp.MustCompile(`^\W*(?:\d+ +)?(?i:(error|err|warn|warning|crit|critical|fatal|alert|emerg|severe)|` +
		`info|notice|debug|trace|verbose|note|[idt])\b\W*`)
	levelIn = regexp.MustCompile(`\blevel"?[=:]"?(?:info|debug|trace|notice)\b|^[I]\d{4} |: (?:info|debug|notice): |` +
		`\[(?i:info|debug|trace|notice)\s*\]`)
)

// What things are called that run out, that are lost, and that fail.
const (
	thingsFull = `(?:buffers?|queues?|backlogs?|pools?|rings?|tables?|caches?|windows?|channels?|slots?|descriptors?|(?:file )?handles|` +
		`ports?|connections?|sessions?|sockets?|threads?|workers?|processes|memory|mbufs?|credits?|streams?|clients?|peers?|` +
		`requests|routes|neighbou?rs|entries|states|flows|bandwidth|leases|addresses)`
	thingsLost = `(?:packets?|pkts?|frames?|datagrams?|messages?|msgs?|segments?|samples?|events?|requests?|requests|lines|` +
		`flows?|spans?|metrics|data|traffic)`
	devices = `(?:firmware|microcode|adapter|controller|chip|card|nic|mac|phy|dma|hardware|hw|tx|rx|[tr]x queue|[tr]x ring|` +
		`modem|radio|transceiver)`
	linkNames = `(?:link|carrier|signal|association|uplink|wan|line|sync|gateway)`
)

// failures are the words of each failure, in lower case.
var failures = []struct {
	failure Failure
	form    *regexp.Regexp
}{
	{DeviceFails, regexp.MustCompile(`\b` + devices + `\b(?:[^.;]|\.\S){0,30}\b(?:hang|hung|stuck|stalled|crashed|crash|died|wedged|` +
		`fatal error|not responding|timed out|timeout|reset failed|failed to reset|recovery)\b|` +
		`\breset(?:ting)? (?:the )?` + devices + `\b|\b` + devices + `[ _]reset\b|\bunrecoverable\b(?:[^.;]|\.\S){0,20}\berror\b`)},
	{Exhausted, regexp.MustCompile(`\b` + thingsFull + `\b(?:[^.;]|\.\S){0,30}?\b(?:(?:is|are|was|were|got|became|almost|nearly) full|full!|` +
		`exhausted|overflow(?:ed|ing|s)?|overrun|overran|depleted|used up|flooded|saturated|overloaded|limit)\b|` +
		`\bfull ` + thingsFull + `\b|` +
		`\b(?:exhausted|overflow(?:ed|ing)?|overrun|(?:run|ran|running) out of|out of|no (?:more|free|available)|too many(?: open)?|` +
		`not enough(?: free)?|insufficient|(?:can ?not|could not|can't|couldn't|unable to|failed to) allocate?)\b(?:[^.;]|\.\S){0,24}\b` + thingsFull + `\b|` +
		`\b(?:max\w*|limit)\b(?:[^.;]|\.\S){0,40}\b(?:reached|exceeded|hit)\b|\b(?:reached|exceed(?:s|ed|ing)?|hit)\b(?:[^.;]|\.\S){0,30}\b(?:max\w*|limit)\b|` +
		`no buffer space|enobufs|emfile|enfile|resource temporarily unavailable|queue full|buffer full|pool full`)},
	{Lost, regexp.MustCompile(`\b(?:drop(?:ping|ped|s)?|discard(?:ing|ed|s)?|lost|losing|missed|missing|skipp?(?:ed|ing)|throwing away)\b` +
		`(?:[^.;]|\.\S){0,24}\b` + thingsLost + `\b|\b` + thingsLost + `\b(?:[^.;]|\.\S){0,24}\b(?:dropped|dropping|discarded|lost|losing|missed|may be lost)\b|` +
		`\bpacket loss\b`)},
	{Damaged, regexp.MustCompile(`\b(?:checksum|crc|fcs|digest|hmac|mac|icv|integrity)\b(?:[^.;]|\.\S){0,20}\b(?:errors?|mismatch|failed|failure|bad|` +
		`invalid|incorrect|wrong)\b|\b(?:bad|invalid|wrong|incorrect) (?:checksum|crc|fcs|digest|hmac|mac|icv)\b|` +
		`\bcorrupt(?:ed|ion)?\b(?:[^.;]|\.\S){0,24}\b` + thingsLost + `\b|\b` + thingsLost + `\b(?:[^.;]|\.\S){0,24}\b(?:corrupt(?:ed)?|malformed|truncated)\b|` +
		`\b(?:decrypt\w*|decapsulat\w*)\b(?:[^.;]|\.\S){0,20}\b(?:failed|failure|error)\b|\b(?:failed|unable) to decrypt\b`)},
	{LinkLost, regexp.MustCompile(`\b` + linkNames + `\b(?:[^.;]|\.\S){0,20}\b(?:lost|is down|went down|failed|failure|loss|flapping|dropped)\b|` +
		`\blost (?:the )?` + linkNames + `\b|\bdeauthenticated\b|\bdisassociated\b|\bbeacon loss\b`)},
	{Throttled, regexp.MustCompile(`\bthrottl(?:ed|ing)\b|\brate[- ]?limit(?:ed|ing)\b|\b429 too many requests\b|\bquota exceeded\b|` +
		`\bbackpressure\b`)},
	{Refused, regexp.MustCompile(`\bconnection\b(?:[^.;]|\.\S){0,30}\b(?:refused|reset|aborted|closed unexpectedly|closed prematurely|broken)\b|` +
		`\breset by peer\b|\bbroken pipe\b|\beconn(?:refused|reset|aborted)\b|\bactively refused\b|\bunexpected eof\b`)},
	{Silent, regexp.MustCompile(`\b(?:timed[ -]?out|times out|deadline exceeded|etimedout|ehostunreach|unreachable|no route to host|host is down)\b|` +
		`\b(?:i/o|io|read|write|request|connect(?:ion)?|response|reply|ack|keep-?alive|heartbeat|handshake|dial|socket|gateway|operation|` +
		`command|negotiation|session|peer|receive|send|poll|message|transaction)\b[^.;=:]{0,24}\btimeout\b(?:[^ =:]| [^\d=:]|$)|` +
		`\btimeout (?:waiting|while|expired|exceeded|reading|writing|connecting|on)\b|: timeout\W*$|` +
		`\b(?:no|without) (?:response|reply|answer|heartbeat|ack\w*)\b|\b(?:not|never) (?:respond|answer|repl)\w*\b|` +
		`\blost (?:the )?(?:connection|contact|peer|session)\b|\b(?:connection|contact|session|peer|heartbeat|neighbou?r|tunnel|vpn)\b(?:[^.;]|\.\S){0,20}` +
		`\b(?:lost|dead|died|stale|missed)\b|\bmiss(?:ed|ing) (?:\d+ )?(?:heartbeats?|keepalives?|hellos?|replies)\b|` +
		`\bhold ?timer expired\b|\bgiving up\b`)},
	{Slow, regexp.MustCompile(`\b(?:took|taking) (?:too|very) long\b|\b(?:longer|slower) than expected\b|\btoo slow\b|\boverloaded\b|` +
		`\b(?:falling|fallen|fell|lagging|lags|is) behind\b|\bslow (?:request|query|op\b|ops\b|read|write|fsync|response|consumer|client|peer|` +
		`link|connection|receiver|network|disk)|\bhigh latency\b|\blatency\b(?:[^.;]|\.\S){0,20}\b(?:too high|exceed\w*|above)\b`)},
}

// failureWords are such that one of them stands in every line that a form of failures fits, in lower case: they are found faster.
var failureWords = strings.Split("hang,hung,stuck,stall,crash,died,wedged,fatal,respon,time,reset,recover,full,exhaust,overflow,"+
	"overr,deplet,used up,flood,saturat,overload,limit,out of,no more,no free,no avail,too many,enough,insufficient,allocat,reached,"+
	"exceed,buffer space,enobufs,emfile,enfile,unavailable,drop,discard,lost,losing,loss,miss,skip,throw,error,mismatch,fail,bad,invalid,"+
	"incorrect,wrong,corrupt,malformed,truncat,decrypt,is down,went down,flap,deauth,disass,throttl,rate,quota,backpress,refused,abort,closed,"+
	"broken,econn,eof,deadline,ehost,unreach,no route,host is down,no re,no ans,no ack,no heart,without,not ,never,dead,stale,"+
	"giving up,expired,long,slow,behind,latency", ",")

// Lines that speak of failures without telling one: of none, of what is set, and of what nobody reads as the network's.
var (
	noFailure = regexp.MustCompile(`(?i)\b(?:0|no|zero|without)\b (?:\w+ ){0,2}?(?:lost|dropped|drops|discarded|errors|packets lost|timeouts|loss)\b|` +
		`\b(?:lost|dropped|discarded|timeouts?|overflows?|loss)\b(?: packets)?\W{1,3}0\b|\b(?:set(?:ting)? to|configured|defaults? to|deprecated|` +
		`enabled|disabled|not supported|unsupported|unknown option|suppressed|callbacks|invalid (?:argument|option)|successful\w*|recovered|` +
		`restored|syntax error|permission denied|authentication fail\w*|preauth|password|firewall|blocked|denied)\b`)
	otherPrograms = regexp.MustCompile(`(?i)^(?:sshd|sshd-\w+|postfix\S*|dovecot|imap\S*|pop3\S*|smtpd|exim\S*|sendmail|cron\w*|anacron|sudo|su|login|` +
		`auditd?|audisp\S*|rtkit\S*|pulseaudio|pipewire|wireplumber|gnome\S*|kde\S*|plasma\S*|dbus\S*|bluetoothd|cupsd|fail2ban\S*|systemd|` +
		`systemd-(?:networkd|logind|journald|udevd|coredump|tmpfiles|timesyncd)|apt\S*|dpkg|dnf|yum|packagekit\S*|snapd|polkit\S*|xorg|xdg\S*|` +
		`rsyslogd|syslogd|avahi\S*|modemmanager|upsd|smartd|ntpd|chronyd|kernel)$`)
	kernelTold = regexp.MustCompile(`(?i)^[\w.-]+ kernel: |^kernel: |^\W*\[ *\d+\.\d+\]`)
	// kernelNetwork are names in the kernel's lines that are of the network.
	kernelNetwork = regexp.MustCompile(`\b(?:eth|en[opsx]|wl|wlan|wwan|ib|bond|wg|ppp|tun|tap|vlan|phy)\w*\d\b|(?i)\b(?:e1000e?|igb|igc|ixgbe\w*|i40e|` +
		`iavf|ice|bnxt_en|bnx2x?|mlx[45]\w*|r81\d\d|r8152|tg3|atlantic|ena|gve|virtio_net|vmxnet3|\w*netvsc|qede|sfc|cxgb\d|be2net|enic|fec|` +
		`stmmac\w*|mvneta|mvpp2|dwmac\S*|macb|bcmgenet|lan78xx|smsc95xx|ax88179\w*|asix|cdc_\w+|ath\d+k\w*|iwlwifi|mt7\w+|rtw\w*|rtl8\w+|` +
		`brcmfmac|mwifiex\w*|ieee80211|netdev|tcp|udp|ipv[46]|wireguard|vxlan|xfrm|bonding|l2tp|ppp\w*)\b`)
)

// ReportOf is what a line of a log reports, and whether it reports a failure at all.
func ReportOf(line string) (r Report, ok bool) {
	if len(line) > reportLimit {
		return r, false
	}
	lower := strings.ToLower(line)
	if !slices.ContainsFunc(failureWords, func(w string) bool { return strings.Contains(lower, w) }) {
		return r, false
	}
	line = line[len(composed.FindString(line)):]
	at := LogStamp.FindStringIndex(line)
	if at == nil || levelIn.MatchString(line) {
		return r, false
	}
	rest := strings.TrimLeft(line[at[1]:], " \t,|-[]")
	kernel := kernelTold.MatchString(line) || kernelTold.MatchString(rest)
	for range 2 { // the level stands before the program, or behind it
		m := logLevel.FindStringSubmatchIndex(rest)
		if m != nil && m[2] < 0 {
			return r, false
		}
		if m != nil {
			rest = rest[m[1]:]
		}
		if m := programOf.FindStringSubmatch(rest); m != nil && r.Program == "" && !kernel {
			r.Program, rest = m[1], rest[len(m[0]):]
		}
	}
	if otherPrograms.MatchString(r.Program) || kernel && !kernelNetwork.MatchString(rest) || noFailure.MatchString(rest) ||
		len(countSlash.FindAllString(rest, 2)) > 1 { // a row of counters has a reader
		return r, false
	}
	if kernel {
		r.Program = "kernel"
	}
	rest = strings.ToLower(rest)
	for _, f := range failures {
		if f.form.MatchString(rest) {
			r.Failure = f.failure
			return r, f.failure != LinkLost || !kernel // cards that start lose their link once
		}
	}
	return r, false
}
