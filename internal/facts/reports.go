package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// A Report is a line in which a program's log, or the kernel's, tells a failure in words of its own.
type Report struct {
	// Program is what wrote the line; empty where it does not name itself.
	Program string
	Failure Failure
	// Peer is the address of the other end that the line names.
	Peer string
	// Count is how many packets or messages the line says were lost.
	Count uint64
	// Quiet lines are those that the program itself does not call a warning.
	Quiet bool
}

// A Failure is what a log's line tells.
type Failure int

// The failures, those first that explain others: what a device, a full buffer or a damaged packet ends times out as well.
const (
	NoFailure   Failure = iota
	DeviceFails         // a card or its firmware hung, crashed or was reset
	NoMemory            // memory could not be had
	TooLarge            // a packet is larger than the path or the interface takes
	Late                // packets came too late, or in the wrong order
	Exhausted           // a limit was reached, a buffer is full
	Lost                // packets or messages were thrown away
	Damaged             // what arrived did not match its checksum
	Filtered            // a firewall drops packets of connections that exist
	LinkLost            // a link or a carrier was lost
	Throttled           // somebody limits the rate
	NotResolved         // the address of a name was not found
	Refused             // a connection was refused or reset
	Silent              // nobody answered in time
	Broken              // a connection ended that should have stayed
	Slow                // something took longer than the program expects
)

// reportLimit bounds the length of a line that is looked at, in bytes.
const reportLimit = 2048

// Reports is the name under which lines without a time or a level are kept that stand where a program's output does, and
// report a failure.
const Reports = "program-log"

// driverErrno ends a line in which a driver says that a command to its device failed: EIO, EAGAIN, EBUSY, ENODEV, EPIPE, EPROTO,
// EILSEQ, ESHUTDOWN and ETIMEDOUT (with MIPS' own number). Of other lines than the kernel's it says nothing.
const driverErrno = `\bfailed\b.{0,90}[ :(]-(?:5|11|16|19|32|71|84|108|110|145)\)?$`

var driverFails = regexp.MustCompile(driverErrno)

// What things are called that run out, that are lost, and that fail.
const (
	gap        = `(?:[^.;]|\.\S)` // within a sentence
	thingsFull = `(?:buffers?|bufs?|queues?|backlogs?|pools?|rings?|tables?|caches?|windows?|channels?|slots?|` +
		`(?:file ?)?descriptors?|(?:file )?handles|` +
		`ports?|connections?|sessions?|sockets?|threads?|workers?|processes|mbufs?|credits?|streams?|clients?|peers?|` +
		`requests|routes|neighbou?rs|entries|states|flows|bandwidth|leases|addresses|fifo|resources?|bucket|tokens?)`
	thingsLost = `(?:packets?|pkts?|frames?|datagrams?|messages?|msgs?|segments?|samples?|events?|requests?|requests|lines|` +
		`flows?|spans?|metrics|points|records?|traffic|quer(?:y|ies)|pings?)`
	devices = `(?:firmware|microcode|adapter|controller|chip|card|nic|mac|phy|dma|hardware|hw|tx|rx|[tr]x queue|[tr]x ring|` +
		`modem|radio|transceiver|mcu|mailbox|admin ?queue)`
	linkNames = `(?:link|carrier|signal|association|uplink|wan|line|sync|gateway|interface)`
	reached   = `(?:reached|exceed(?:s|ed|ing)?|hit|overcoming|over|above|too (?:small|low))`
)

type failureForm struct {
	failure Failure
	form    *regexp.Regexp
}

// failures are the words of each failure, in lower case.
var failures = []failureForm{
	{DeviceFails, regexp.MustCompile(driverErrno + `|\b` + devices + `\b` + gap + `{0,30}\b(?:hang|hung|stuck|stalled|crashed|crash|died|wedged|` +
		`fatal error|not responding|timed out|timeout|reset failed|failed to reset|recovery|failed to (?:start|stop|wake|send|respond|load))\b|` +
		`\breset(?:ting)? (?:the )?` + devices + `\b|\b` + devices + `[ _](?:is )?reset\b|\bunrecoverable\b` + gap + `{0,20}\berror\b|` +
		`\bfailed to (?:wake ?up|power (?:on|up)|reset the|flush tx|stop tx|send (?:mcu|wmi|fw)|set (?:key|rate|channel))\b|` +
		`\btimed? ?out waiting for (?:pending tx|mcu|fw|firmware|wmi|tx|rx|hardware)\b|\bpolling for tx timestamp\b|\bdma errors?\b|` +
		`\b(?:can ?not|can't|failed to|could not|unable to) (?:attach|connect|find|probe|detect|init\w*|read|` +
		`load)\b` + gap + `{0,16}\b(?:phy|mdio|eeprom|nvm|firmware)\b|` +
		`\b(?:crash|crashed|assert(?:ed|ion)?)\b` + gap + `{0,24}\b(?:firmware|fw|remoteproc|microcode)\b|\btx status -\d+|` +
		`\bstart (?:umac |lmac )?error log dump\b|` +
		`\b(?:adapter|modem|controller|radio|dongle|coordinator)\b` + gap + `{0,16}\b(?:disconnected|fatal error|disappeared|` +
		`not found|unplugged)\b|` +
		`\bdevice not accepting address\b|\bdevice descriptor read/\w+, error\b|\bunable to enumerate usb device\b`)},
	{NoMemory, regexp.MustCompile(`\bout of memory\b|\boom[- ]kill|\bcan(?:not|'t| not) allocate memory\b|\benomem\b|\b(?:memory|` +
		`page) allocation failure\b|` +
		`\bmemory (?:limit|pressure|exhausted|alarm)\b|\b(?:low|insufficient|not enough) (?:on )?memory\b|\bmemory resource limit alarm\b`)},
	{TooLarge, regexp.MustCompile(`\b(?:message|packet|frame|datagram|payload) (?:is )?too (?:long|large|big)\b|\b(?:emsgsize|` +
		`fragmentation needed|frag needed)\b|` +
		`\b(?:exceeds?|larger than|bigger than|greater than|above) (?:the )?(?:\w+ ){0,2}mtu\b|\boversized? (?:frame|packet|datagram)\b|` +
		`\bmtu\b` + gap + `{0,20}\b(?:mismatch|too (?:small|large|low|big|high)|exceeded|inconsistent)\b|` +
		`\bpath mtu\b` + gap + `{0,20}\b(?:decreas|reduc|lower|drop)`)},
	{Late, regexp.MustCompile(`\bmax(?:imum)? delay reached\b|\b(?:packets?|frames?|samples?|buffers?|segments?|` +
		`data)\b` + gap + `{0,40}\b(?:too late|for too long|too old|out[- ]of[- ]order|late)\b|` +
		`\b(?:received|got) (?:oos|out[- ]of[- ](?:order|sequence)|late)\b|\bjitter buffer (?:under|over)|\bbuffer underruns?\b|` +
		`\bunderrun occurred\b|` +
		`\b(?:bad packet id|packet replay|replay detected|replayed packet)\b|\b(?:sequence|seq) (?:number )?(?:gap|jump|mismatch|hole)|` +
		`\b(?:expected|waiting for) (?:seq\w*|packet) \d+`)},
	{Exhausted, regexp.MustCompile(`\b` + thingsFull + `\b` + gap + `{0,30}?\b(?:(?:is|are|was|were|got|became|almost|nearly|too) full|full!|` +
		`exhausted|overflow(?:ed|ing|s)?|overrun|overran|depleted|used up|flooded|saturated|overloaded|limits? (?:reached|exceeded|hit))\b|` +
		`\bfull ` + thingsFull + `\b|\b` + thingsFull + ` (?:full|is busy|busy)\b|` +
		`\b(?:exhausted|overflow(?:ed|ing)?|overrun|(?:run|ran|running) out of|out of|no (?:more|free|available|room in|space in|` +
		`room left in)|too many(?: open)?|` +
		`not enough(?: free)?|insufficient|(?:can ?not|could not|can't|couldn't|unable to|failed to) (?:allocate?|get|` +
		`acquire))\b` + gap + `{0,24}\b` + thingsFull + `\b|` +
		`\b(?:max\w*|limits?)\b` + gap + `{0,40}\b(?:reached|exceeded|hit|too (?:low|small)|alarm)\b|` +
		`\b` + reached + `\b` + gap + `{0,30}\b(?:max\w*|limits?)\b|` +
		`no buffer space|enobufs|emfile|enfile|resource temporarily unavailable|no space left`)},
	{Lost, regexp.MustCompile(`^xx drop \(|\b(?:drop(?:ping|ped|s)?|discard(?:ing|ed|s)?|lost|losing|missed|missing|skipp?(?:ed|` +
		`ing)|throwing away)\b` +
		gap + `{0,24}\b` + thingsLost + `\b|\b` + thingsLost + `\b` + gap + `{0,24}\b(?:dropped|dropping|discarded|lost|losing|` +
		`missed|may be lost|fewer than)\b|` +
		`\b(?:packet|data) loss\b|\b(?:dropping|dropped|discarding|discarded) (?:\w+ )?(?:data|items?)\b|\bdiscontinuity received\b|` +
		`\bcontinuity check failed\b`)},
	{Damaged, regexp.MustCompile(`\b(?:checksum|crc|fcs|digest|hmac|icv|integrity)\b` + gap + `{0,20}\b(?:errors?|mismatch|failed|failure|bad|` +
		`invalid|incorrect|wrong)\b|\b(?:bad|invalid|wrong|incorrect) (?:checksum|crc|fcs|digest|hmac|mac|icv)\b|` +
		`\bcorrupt(?:ed|ion)?\b` + gap + `{0,24}\b` + thingsLost + `\b|\b` + thingsLost + `\b` + gap + `{0,24}\b(?:corrupt(?:ed)?|` +
		`malformed|truncated|too short)\b|` +
		`\b(?:decrypt\w*|decapsulat\w*)\b` + gap + `{0,20}\b(?:failed|failure|error)\b|\b(?:failed|unable) to decrypt\b`)},
	{LinkLost, regexp.MustCompile(`\b` + linkNames + `\b` + gap + `{0,20}\b(?:lost|is down|went down|loss|flapping|dropped|` +
		`offline|disconnected|disconnecting)\b|` +
		`\b(?:link|carrier|association|uplink|wan|gateway|interface)\b` + gap + `{0,20}\b(?:failed|failure|error)\b|` +
		`\blost (?:the )?` + linkNames + `\b|\bdeauthenticated\b|\bdisassociated\b|\bbeacon loss\b`)},
	{Throttled, regexp.MustCompile(`\bthrottl(?:ed|ing)\b|\brate[- ]?limit(?:ed|ing)?\b|\b429 too many requests\b|\bquota exceeded\b|` +
		`\bback-?pressure\b`)},
	{Silent, regexp.MustCompile(`\bcould not resolve peer\b|\bvia tcp but not udp\b|\breceived lower prio\w* advert|` +
		`\badvert from \S+ with lower priority\b|\breceive advertisement timeout\b|\breceived an invalid passwd\b`)}, // of an overlay network
	{NotResolved, regexp.MustCompile(`\b(?:could not|couldn't|can ?not|can't|unable to|failed to|failure to|fail to|` +
		`failed) (?:be )?(?:resolved?|look ?up|resolving)\b|` +
		`\b(?:name resolution|dns (?:lookup|resolution|query|request)|lookup|getaddrinfo|resolv\w+)\b` + gap + `{0,40}\b(?:failed|` +
		`failure|failing|error|timed out|timeout)\b|` +
		`\bno such host\b|\bserver misbehaving\b|\bname or service not known\b|\b(?:enotfound|eai_again|servfail)\b|\bnodename nor servname\b|` +
		`\btemporary failure in name\b|\bunknown host\b|\bhost not found\b`)},
	{Refused, regexp.MustCompile(`\b(?:upstream|request) reset\b|\b(?:connection|connect|stream|session|` +
		`socket)\b` + gap + `{0,30}\b(?:refused|reset|aborted|closed unexpectedly|closed prematurely|broken)\b|` +
		`\breset by peer\b|\bbroken pipe\b|\bupstream connect error\b|\bsocket: connection closed\b|\becon(?:nrefused|nreset|` +
		`naborted)\b|\bactively refused\b|\bunexpected eof\b|\bprematurely closed\b|` +
		`\b(?:end of file|eof|closed|ended) before\b|\bincomplete (?:read|body|message|response)\b|\b(?:closed|shut ?down|terminated|` +
		`dropped) by (?:the )?(?:remote|peer|foreign|other|server)\b|` +
		`\b(?:server|peer|host|remote|other end)\b` + gap + `{0,30}\bclosed (?:the |its )?connection\b|\bunexpected(?:ly)? clos|` +
		`\bforcibly closed\b`)},
	{Silent, regexp.MustCompile(`\b(?:timed[ -]?out|times out|time-?out (?:error|occurred)|deadline ?exceeded|etimedout|` +
		`ehostunreach|enetunreach|unreachable|` +
		`no route to host|host is down)\b|\btimeout(?:exception|error)\b|` +
		`\b(?:i/o|io|read|write|request|connect(?:ion)?|response|reply|ack|keep-?alive|heartbeat|handshake|dial|socket|gateway|operation|setup|` +
		`command|negotiation|session|peer|receive|send|poll|message|transaction)\b[^.;=:]{0,24}\btimeout\b(?:[^ =:]| [^\d=:]|$)|` +
		`\b(?:timeout (?:waiting|while|expired|exceeded|reached|reading|writing|connecting|on)|(?:due to|because of|` +
		`by) (?:\w+ ){0,3}time-?out|exceeded (?:its |the )?time-?out)\b|: timeout\W*$|` +
		`\b(?:no|without) (?:\w+ )?(?:response|reply|answer|heartbeats?|acks?|acknowledg\w+|handshake|\w*offers?|leases?)\b|` +
		`\bno (?:\w+ )?(?:frames?|data|packets?|traffic) (?:was |were )?(?:received|seen|arrived)\b|\b(?:not|never|` +
		`n't) (?:been )?(?:respond|answer|repl|acknowledg|complete)\w*\b|` +
		`\blost (?:the )?(?:connection|contact|peer|session|server)\b|\b(?:connection|contact|session|peer|heartbeat|neighbou?r|` +
		`tunnel|vpn|server|node|master|replica|slave|client|backend|upstream)\b` +
		gap + `{0,20}\b(?:lost|dead|died|stale|missed|unhealthy|gone away)\b|\bmiss(?:ed|ing) (?:\d+ )?(?:heartbeats?|keepalives?|` +
		`hellos?|replies|pongs?)\b|` +
		`\b(?:fail(?:ed|ing|ure)? to|could not|couldn't|can ?not|can't|unable to) (?:be )?(?:re)?(?:connect|reach|contact|dial|establish)(?:ed)?\b|` +
		`\b(?:connection|connect|dial|handshake|reconnect\w*) (?:attempt (?:#?\d+ )?)?(?:(?:to|with) \S+ )?(?:failed|failure|` +
		`error)\b|\bnetwork (?:error|failure)\b|\bstale connection\b|` +
		`\b(?:ping|health|liveness|readiness|heartbeat|keep-?alive|reachability)\b[^.;=]{0,12}\b(?:failed|failing)\b|\b(?:failed|` +
		`missed) \d+ consecutive\b|` +
		`\b(?:inactivitytimer|control-expired|bfd down|(?:dead|hold|hello|detection)[ -]?time(?:r|out)? (?:has )?expired)\b|` +
		`\bhold ?timer expired\b|\b(?:suspected|detected) (?:an? )?(?:\w+ )?partition|\bpartitioned network\b|\bsplit[- ]brain\b|` +
		`\bnot established with\b|\bgiving up\b|\b(?:marked|considered|declared?|now|is) (?:as )?(?:dead|unreachable|offline|suspect)\b`)},
	{Broken, regexp.MustCompile(`\baborted connection\b|%notification: (?:received|sent) |\b(?:exited|ended|terminated|stopped|` +
		`disconnected|dropped) (?:unexpectedly|prematurely)\b|\breconnecting\b|\bdisconnected from\b|` +
		`\b(?:connection|session|tunnel|stream|socket|link|websocket)\b` + gap + `{0,20}\b(?:disconnected|dropped|terminated|` +
		`interrupted|ended|went away)\b|` +
		`\b(?:neighbou?r|nbr|peer|member|node|inetaddress|adjacency)\b` + gap + `{0,60}(?:\bis (?:now )?down\b|(?:to|->) (?:down|deleted)\b)|` +
		`\bconnected -> (?:registered|searching|failed)\b|` +
		`\b(?:will )?(?:retry|retrying|reconnect) (?:in|after|attempt) \d|\btimes in a row\b`)},
	{Slow, regexp.MustCompile(`\bpleg is not healthy\b|\b(?:took|taking) (?:too|very) long\b|\b(?:longer|slower) than expected\b|` +
		`\btoo slow(?:ly)?\b|\boverloaded\b|` +
		`\b(?:falling|fallen|fell|lagging|lags|is) behind\b|\bslow (?:request|query|op\b|ops\b|read|write|fsync|response|consumer|client|peer|` +
		`link|connection|receiver|network|disk|upstream|server)|\bunreasonably long\b|\bfailed to send out heartbeat on time\b|` +
		`\b(?:high|increased|excessive) (?:latency|lag|jitter|rtt)\b|` +
		`\b(?:latency|lag|delay)\b` + gap + `{0,20}\b(?:too high|exceed\w*|above)\b|\bcan't keep up\b|\bcannot keep up\b|\bnot keep(?:ing)? up\b`)},
}

// longTime is a time of a second or more that a warning says something took.
var longTime = regexp.MustCompile(`\b(?:took|elapsed|latency|rtt|time|delay(?:ed)?|waited|after|blocked|stalled|lag|duration|` +
	`pause[ds]?|spent|gc in)\b[^.;\d]{0,20}` +
	`(?:[1-9]\d{3,}(?:\.\d+)? ?(?:ms|msecs?|milliseconds)|[1-9]\d{6,} ?(?:us|usecs?)|[1-9]\d{9,} ?ns|[1-9]\d*(?:\.\d+)? ?(?:s|` +
	`secs?|seconds)|[1-9]\d*m\d+)\b`)

// failing are the forms of failures, and times that may be one.
var failing = regexp.SetOf(append(formsOf(failures), longTime, timedOut)...)

func formsOf(list []failureForm) (forms []*regexp.Regexp) {
	for _, f := range list {
		forms = append(forms, f.form)
	}
	return forms
}

// Lines that speak of failures without telling one: of none, of what is set, of what may be, and of source code; and
// programs of which nobody reads the lines as the network's.
var (
	noFailure = regexp.MustCompile(`\b(?:0|no|zero|without|\w+=0)\b (?:\w+ ){0,2}?(?:lost|dropped|drops|discarded|errors|` +
		`packets lost|timeouts|loss|failures)\b|` +
		`\b(?:lost|dropped|drops|discarded|timeouts?|overflows?|overrun|exceeded|full|loss|errors|failures|missed|` +
		`late)\b(?:[ _]packets)?\W{1,12}0(?:[^.\d%]|%|\.0|$)|` +
		`\b(?:set(?:ting)? to|configured|defaults? to|deprecated|not set|using default|unknown (?:key|parameter)|not supported|` +
		`unsupported|unknown option|suppressed|callbacks|` +
		`invalid (?:argument|option)|successful\w*|recovered|restored|reconnected|syntax error|permission denied|` +
		`authentication fail\w*|preauth|password|` +
		`access denied|not authori[sz]ed|unauthori[sz]ed|forbidden|certificate|not (?:a )?valid|directory|including drops|(?:log|` +
		`flush|idle|sleep|poll|refresh) timer|out of or|in connection with|due to inactivity|ieee 802\.11: (?:deauthenticated|` +
		`disassociated|did not acknowledge)|line protocol is down|(?:speeds?|rates?|throughput|bandwidth|performance|` +
		`signal) (?:\w+ )?drop(?:s|ped|ping)?|xtables lock in use|log messages|rates are supported)\b`)
	supposed = regexp.MustCompile(`\b(?:if|when|whenever|unless|avoid|avoids|prevents?|in case|should|instead of|options?|maximum|because|` +
		`how|whether|until|for|fix(?:e[sd])?|support|handle|checks?|test(?:s|ing)?|expect(?:ed|s)?)\b[^.:;]{0,60}$`)
	// conditional is what is left of these in lines that a program calls a warning: those tell what was.
	conditional = regexp.MustCompile(`\b(?:if|unless|avoid|avoids|prevents?|in case|should|instead of|options?)\b[^.:;]{0,60}$`)
	// timedOut is a timeout that is not counted, timeoutSet one that somebody sets; software are programs that are named as devices are.
	timedOut   = regexp.MustCompile(`\btime-?out\b(?:[^=:\w]{1,2}[^\d=:]|: ?[^\d ]|[.!]?$)`)
	timeoutSet = regexp.MustCompile(`\b(?:default|using|set|setting|configur\w+|chang\w+|adjust\w*|option|parameter)\b[^.;]{0,30}\btime-?out\b|` +
		`\btime-?outs? (?:of|value|setting|option|established|syn|to|is|was)\b`)
	software  = regexp.MustCompile(`[\w]-controller|controller[-/.]\w`)
	endOfCode = regexp.MustCompile(`[;{] *$`)
	ofSource  = regexp.MustCompile(`%[-0-9.]*l*[sdvuqxz]\b|\(\);|^(?:\s*(?:[*/#-]|//)+ )|\b(?:return|printf|const|static|void|func|def|int|` +
		`struct)\b.*[;{(=]|\d\s+(?:→|->)\s+[0-9a-f.:]+\s+[A-Z]|^\s*[\w.]+ = \w[\w.]*\(|["'][\w.-]+["'], ?["']|=> |</|\w\(\w*,|:= |` +
		`\|\||&& |^\s*(?:[-+*o•]|\d+[.)]) `)
	otherPrograms = regexp.MustCompile(`(?i)^(?:sshd|sshd-\w+|postfix\S*|dovecot|imap\S*|pop3\S*|smtpd|exim\S*|sendmail|cron\w*|` +
		`anacron|sudo|su|login|` +
		`auditd?|audisp\S*|rtkit\S*|pulseaudio|pipewire|wireplumber|gnome\S*|kde\S*|plasma\S*|dbus\S*|bluetoothd|cupsd|fail2ban\S*|systemd|` +
		`systemd-(?:networkd|logind|journald|udevd|coredump|tmpfiles|timesyncd)|apt\S*|dpkg|dnf|yum|packagekit\S*|snapd|polkit\S*|xorg|xdg\S*|` +
		`avahi\S*|upsd|smartd|ntpd|chronyd|make|gcc|cc|ld|go|cargo|pip|npm)$`)
	// kernelNetwork are names in the kernel's lines that are of the network.
	kernelNetwork = regexp.MustCompile(`\b(?:eth|en[opsx]|wl|wlan|wwan|ib|bond|wg|ppp|tun|tap|vlan|phy)\w*\d\b|(?i)\b(?:e1000e?|` +
		`igb|igc|ixgbe\w*|i40e|` +
		`iavf|ice|bnxt_en|bnx2x?|mlx[45]\w*|r81\d\d|r8152|tg3|atlantic|ena|gve|virtio_net|vmxnet3|\w*netvsc|qede|sfc|cxgb\d|be2net|enic|fec|` +
		`stmmac\w*|mvneta|mvpp2|dwmac\S*|macb|bcmgenet|lan78xx|smsc\d+xx|ax88179\w*|asix|cdc_\w+|ath\d+k\w*|iwlwifi|mt7\w+|rtw\w*|rtl8\w+|` +
		`brcmfmac|mwifiex\w*|ieee80211|netdev|ipt_\w+|[nx][ft]_\w+|tcp|udp|ipv[46]|wireguard|vxlan|xfrm|bonding|l2tp|ppp\w*)\b|^usb \w`)
	// onBus is a driver's line of a device on a bus: what times out there is the device.
	onBus = regexp.MustCompile(`^[a-z]\w+ (?:[0-9a-f]{4}:)?[0-9a-f-]+[:.][\w.:]+: `)
	// happened are words of what was, in lines that a program does not call a warning.
	happened = regexp.MustCompile(`\b(?:unreachable|upstream reset|no route|is now down|to down|expired|timed out|did not|failed|` +
		`detected|dropping|dropped|lost|exceeded|due to|full|no (?:response|reply|answer|(?:frames|data|packets) received)|` +
		`not respond\w*|reset by peer|refused|aborted|closing|closed|discarding|overcoming|missed|unexpectedly|reconnecting|` +
		`exception|not healthy|\w+exception)\b|-> (?:down|deleted|registered|searching)\b`)
	// counted is the rest of a counter behind its name, which has another reader, and counted0 that of one that stands at 0.
	counted  = regexp.MustCompile(`^[\w -]{0,12}(?:\(\))?["']?\s*[:=]\s*["']?-?\d+(?:[^\w.]|$)`)
	counted0 = regexp.MustCompile(`^[\w() -]{0,12}["']?\s*[:=]\s*["']?0(?:[^\w.]|$)`)
	// lostCount is how many packets a line says were lost.
	lostCount = regexp.MustCompile(`\b` + thingsLost + ` (?:dropped|lost|discarded|missed|skipped)[:= ]{1,3}(\d{1,12})\b|` +
		`` + `\b(?:dropped|lost|discarded) (?:items|count|` + thingsLost + `)[":= ]{1,4}(\d{1,12})\b|` +
		`` + `\b(\d{1,12}) (?:\w+ )?` + thingsLost + `\b` + gap + `{0,16}\b(?:dropped|lost|discarded|missed|skipped|fewer)\b|` +
		`\b(?:dropp?(?:ed|ing)?|lost|loss|discard(?:ed|ing)|missed|skipped)\b (?:\w+ ){0,2}?(\d{1,12}) (?:\w+ )?` + thingsLost + `\b`)
	// filteredPacket is a packet of an established TCP connection that a rule of iptables or nftables logged before it dropped it.
	filteredPacket = regexp.MustCompile(`(?i)(?:drop|den[iy]|block|reject|invalid).* IN=\S* OUT=\S* .*PROTO=TCP .*RES=0x\w+ ACK (?:PSH )?URGP=`)
	peerIn         = regexp.MustCompile(`(?:->|=>|<|\b(?:to|from|peer|with|tcp|udp|server|host|master|node|replica|client|upstream|backend|` +
		`address|addr|raddr|remote|r|by)\b)[ =:"/(\[]{0,3}((?:\d{1,3}\.){3}\d{1,3}|\[?[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}\]?)\b`)
	addressIn = regexp.MustCompile(`\b((?:\d{1,3}\.){3}\d{1,3})\b`)
)

// ReportOf is what a line of a log reports, and whether it reports a failure at all.
func ReportOf(line string) (Report, bool) { return reportOf(line, true) }

// UnstampedReport is ReportOf for lines without a time or a level, which stand where a program's output does.
func UnstampedReport(line string) (Report, bool) { return reportOf(line, false) }

func reportOf(line string, stamped bool) (r Report, ok bool) {
	if len(line) > reportLimit {
		return r, false
	}
	if (strings.Contains(line, "drop") || strings.Contains(line, "DROPPED")) && CiliumDrop.MatchString(line) {
		return Report{Failure: Lost, Program: "cilium"}, true
	}
	if !tellsFailure(line) {
		return r, false
	}
	l := parseLogLine(line)
	const fewWords = 3 // a name, not a message
	if !l.stamped && len(strings.Fields(line)) < fewWords || stamped && !l.stamped && !ToolFailed.MatchString(line) || otherPrograms.MatchString(l.program) ||
		l.kernel && !kernelNetwork.MatchString(l.text) || ofSource.MatchString(l.text) || l.level == noLevel && endOfCode.MatchString(l.text) ||
		!l.stamped && (ofSource.MatchString(line) || titlesOfColumns.MatchString(line)) {
		return r, false
	}
	text := plainText(l.text)
	if filteredPacket.MatchString(l.text) {
		r.Failure = Filtered
	} else if r.Failure = failureIn(text, l); r.Failure == NoFailure || l.level == quietLevel && !happened.MatchString(text) {
		return r, false
	}
	if r.Failure == LinkLost && l.kernel {
		return r, false // cards that start lose their link once
	}
	if r.Failure == Silent && onBus.MatchString(l.text) {
		r.Failure = DeviceFails
	}
	r.Program, r.Quiet, r.Peer, r.Count = l.program, l.level == quietLevel, peerOf(text), countedIn(text)
	return r, true
}

// titlesOfColumns are the head of a table: words without a number, far from each other.
var titlesOfColumns = regexp.MustCompile(`^\s*(?:[^\s\d]+(?: [^\s\d]+)?(?:\s{2,}|\t|$)){4,}$`)

// CiliumDrop is what cilium monitor (pkg/monitor/datapath_drop.go), its JSON and Hubble's say of a packet that was dropped.
var CiliumDrop = regexp.MustCompile(`^xx drop \([A-Z]|\]? \S+: drop: [A-Z][\w ]+ \(|^\{"cpu":"CPU.*"type":"drop",.*"reason":"|` +
	`"flow":\{.*"verdict":"DROPPED".*"drop_reason_desc":"`)

// StreamGap is what players say of packets of a television stream that are missing.
var StreamGap = regexp.MustCompile(`discontinuity received 0x\w+ instead of 0x|Continuity check failed for pid`)

// ToolFailed is the begin of a line in which a tool or an exception says why it failed.
var ToolFailed = regexp.MustCompile(`^\s*(?:[\w$]+\.)*[A-Z]\w*(?:Exception|Error|Timeout): |` +
	`^\s*(?:curl|wget|rsync|ssh|scp|sftp|nc|psql|mysql|mount(?:\.nfs)?|npm ERR!|docker|kubectl): |` +
	`^upstream connect error or disconnect/reset before headers`)

// tellsFailure reports whether a line has words that tell a failure, wherever they stand: it is found fast.
func tellsFailure(line string) bool {
	if strings.Contains(line, " ACK ") && filteredPacket.MatchString(line) {
		return true
	}
	for range failing.Matching(plainText(line)) {
		return true
	}
	return false
}

// plainText is a text in lower case, its names cut into words.
func plainText(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", " ") }

// failureIn is the failure that a message tells, in lower case.
func failureIn(text string, l logLine) Failure {
	if noFailure.MatchString(text) || len(countSlash.FindAllString(text, 2)) > 1 { // a row of counters has a reader
		return NoFailure
	}
	for _, f := range failures {
		if at := f.form.FindStringIndex(text); at != nil {
			if f.failure == DeviceFails && !l.kernel && (driverFails.MatchString(text) || software.MatchString(text)) {
				continue
			}
			rest, condition := text[at[1]:], supposed
			if l.level == loudLevel {
				condition = conditional
			}
			if condition.MatchString(text[:at[0]]) || counted0.MatchString(rest) || (!l.stamped || l.level == quietLevel) && counted.MatchString(rest) {
				return NoFailure
			}
			return f.failure
		}
	}
	switch {
	case timeoutSet.MatchString(text):
		return NoFailure
	case l.level == loudLevel && longTime.MatchString(text):
		return Slow
	case l.kernel && timedOut.MatchString(text):
		return DeviceFails
	case l.level == loudLevel && timedOut.MatchString(text):
		return Silent
	}
	return NoFailure
}

// readReports keeps the lines that report a failure.
func (f *Facts) readReports(t text) error {
	found := false
	for i, line := range t.lines() {
		if _, ok := UnstampedReport(line); ok && len(f.Messages) < messageLimit {
			found = true
			f.Messages = append(f.Messages, Message{shorten(strings.TrimSpace(line)), f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(found)
}

// IsLogLine reports whether a line begins as lines of logs do.
func IsLogLine(line string) bool { return len(line) <= reportLimit && parseLogLine(line).stamped }

// IsWarning reports whether a program calls a line of its log a warning or an error; lines of programs of which nobody
// expects to hear of the network are none.
func IsWarning(line string) bool {
	if len(line) > reportLimit {
		return false
	}
	l := parseLogLine(line)
	return l.level == loudLevel && !otherPrograms.MatchString(l.program) && (!l.kernel || kernelNetwork.MatchString(l.text))
}

// IsTimed reports whether a line begins with a time, as lines of logs do and sentences do not.
func IsTimed(line string) bool {
	return stampPart.MatchString(strings.TrimLeft(line, " \t>")) || kernelPart.MatchString(line)
}

// MessageOf is a line of a log from the name of its program on.
func MessageOf(line string) string {
	l := parseLogLine(line)
	if l.program == "" {
		return shorten(l.text)
	}
	return shorten(l.program + ": " + l.text)
}

func peerOf(text string) string {
	if m := peerIn.FindAllStringSubmatch(text, 8); m != nil {
		return strings.Trim(m[len(m)-1][1], "[]")
	}
	return addressIn.FindString(text)
}

func countedIn(text string) uint64 {
	m := lostCount.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseUint(m[1]+m[2]+m[3]+m[4], 10, 64)
	return n
}
