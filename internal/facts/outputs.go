package facts

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"sync"
	"unicode/utf16"
)

// command is an output of a command under the name that evidence gives it, and
// the other forms in which people save or type it.
type command struct {
	name    string
	pattern *regexp.Regexp
}

// commands are the known ones; the first that matches counts. They are made
// when they are first needed: a live host needs none.
var commands = sync.OnceValue(func() []command {
	list := []command{}
	for _, c := range []struct{ name, pattern string }{
		{"uname -a", `^uname( -a)?$`},
		{"sysctl net.inet.tcp.hostcache.list", `^sysctl (-n )?net\.inet\.tcp\.hostcache\.list$`},
		{"sysctl -a", `^sysctl( -a)?( -e)?( [a-z][\w./-]*)*$`},
		{"ip -s -d link show", `^ip( -(s|d|details?|stat\w*))* l(i|ink)?( show| list| ls)?( (dev )?\S+)?$`},
		{"ip -o address show", `^ip( -(o|4|6|s|d))* a(d|dd|ddr|ddress)?( show| list| ls)?( (dev )?\S+)?$`},
		{"ip route show table main", `^ip( -(4|d|details))* r(o|oute)?( show| list| ls)?( table (main|all))?$`},
		{"ip neigh show", `^ip( -(s|4|6))* n(ei|eigh|eighbour|eighbor)?( show)?( nud \w+)?$`},
		{"ss -tinm", `^ss( -[\w]*[ai][\w]*)( state \S+)?$`},
		{"ss -ltn", `^ss -\w*l\w*$`},
		{"tc -s qdisc show", `^tc( -(s|d))* q(disc)?( show| ls)?( dev \S+)?$`},
		{"lspci -vv", `^lspci( -\S+| [0-9a-fA-F:.]+)*( -\S*vv\S*)( -\S+| [0-9a-fA-F:.]+)*$`},
		{"nstat -az", `^nstat( -\S+)*$`}, {"mpstat -P ALL 1 1", `^mpstat -P ALL( -\S+)*( \d+)*$`}, {"top", `^top( .*)?$`},
		{"dmesg", `^dmesg( -\w+)*(\.boot|\.today)?$`},
		{"conntrack -S", `^conntrack (-S|--stats)$`},
		{"netstat -s", `^netstat( -n| -W)* -s\w*( -?\w+)*$`},
		{"netstat -m", `^netstat -m(n)?$`}, {"netstat -Q", `^netstat -Q$`}, {"netstat -Lan", `^netstat -(L|La|Lan|aLn|anL|Ln)$`},
		{"netstat -xn -p tcp", `^netstat -(x|xn|xan|nx|anx)( -p tcp| -ptcp)?( head)?$`},
		{"netstat -idnW", `^netstat( -[bdnW]+)* -[bdnW]*(i[bdnW]*|I ?\S+)( -[bdnW]+)*$`}, {"netstat -rnW", `^netstat -(rn|nr)W?( -f \w+)?$`},
		{"ifconfig -a", `^ifconfig( -[avmA]+)*( [\w.]+)?$`},
		{"vmstat -z", `^vmstat -z$`}, {"vmstat -ia", `^vmstat -(ia|i|ai)$`},
		{"pciconf -lvc", `^pciconf -l[vcbe]*( -\w+)*$`}, {"pcidump -v", `^pcidump -v+$`},
		{"kldstat", `^kldstat( -v)?$`}, {"pfctl -si", `^pfctl (-v+ )?-v?s ?i(nfo)?( -v+)?$`}, {"pfctl -sm", `^pfctl -s ?m(emory)?$`},
		{"lsblk -o NAME,SIZE,ROTA,TYPE,SCHED,MOUNTPOINT", `^lsblk( -[abto]| [A-Z,:-]+)*$`},
		{"iostat -Ix", `^iostat -(\w*I\w*x|\w*x\w*I)\w*( \S+)*$`}, {"iostat -x", `^iostat( -\S+)* -\w*x\w*( \S+)*$`},
		{"iostat -DI", `^iostat -(DI|ID)( \S+)*$`}, {"iostat -D", `^iostat -D( \S+)*$`}, {"iostat", `^iostat( [\w.-]+)*$`},
		{"gstat -b", `^gstat( -\S+)*( \S+)*$`}, {"geom disk list", `^geom disk list( \S+)?$`}, {"camcontrol devlist", `^camcontrol devlist( -v)?$`},
		{"zpool list -p", `^zpool list( -\S+)*( \S+)?$`}, {"zpool status", `^zpool status( -\S+)*( \S+)?$`}, {"zfs get all", `^zfs get( \S+)+$`},
		{"iperf3", `^iperf3?( .*)?$`}, {"netstat -an", `^netstat( -[antulpoeWc46vTN]+)+( -?f inet6?)?( -?p (tcp|udp))?$`},
		{"kenv", `^kenv$`}, {"systat -ab -d 2 cpu 1", `^systat( -\S+)*( \d+)? cpu( \d+)?$`}, {"systat -ab mbufs", `^systat( -\S+)*( \d+)? mbufs( \d+)?$`},
		{"lscpu", `^lscpu$`}, {"getconf PAGESIZE", `^getconf PAGE_?SIZE$`},
	} {
		list = append(list, command{c.name, regexp.MustCompile(c.pattern)})
	}
	return list
})

var (
	ethtoolName = regexp.MustCompile(`^ethtool( -[iklgcaS]| --show-eee)? ([A-Za-z0-9._@-]+)$`)
	longOption  = regexp.MustCompile(`^ethtool --([a-z-]+) `)
	escape      = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")
)

// namedOutput finds what a command's words print; empty when it is nothing
// known.
func namedOutput(words string) string {
	if words == "ifconfig hwfeatures" {
		return words
	}
	if m := longOption.FindStringSubmatch(words); m != nil {
		if short := map[string]string{"driver": "-i", "show-features": "-k", "show-offload": "-k", "show-channels": "-l", "show-ring": "-g", "show-coalesce": "-c", "show-pause": "-a",
			"statistics": "-S"}[m[1]]; short != "" {
			words = "ethtool " + short + " " + words[len(m[0]):]
		}
	}
	if ethtoolName.MatchString(words) {
		return words
	}
	for _, c := range commands() {
		if c.pattern.MatchString(words) {
			return c.name
		}
	}
	return ""
}

// plainText takes off what editors, terminals and other systems add to a text:
// byte order marks, UTF-16, colours, spaces that do not break.
func plainText(data []byte) []byte {
	if len(data) >= 2 {
		switch {
		case data[0] == 0xff && data[1] == 0xfe:
			data = fromUTF16(data[2:], binary.LittleEndian)
		case data[0] == 0xfe && data[1] == 0xff:
			data = fromUTF16(data[2:], binary.BigEndian)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0x1b) >= 0 {
		data = escape.ReplaceAll(data, nil)
	}
	if bytes.IndexByte(data, 0xa0) >= 0 {
		data = bytes.ReplaceAll(data, []byte("\u00a0"), []byte(" "))
	}
	return data
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
