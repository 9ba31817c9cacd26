package conffile

import "strings"

// ethtoolGroups are the options of ethtool(8) that set something, with the
// catalog's group.
var ethtoolGroups = map[string]string{
	"-K": "features", "--features": "features", "--offload": "features",
	"-C": "coalesce", "--coalesce": "coalesce",
	"-G": "ring", "--set-ring": "ring",
	"-L": "channels", "--set-channels": "channels",
	"-A": "pause", "--pause": "pause",
	"-s": "link", "--change": "link",
	"-X": "rxfh", "--rxfh": "rxfh", "--set-rxfh-indir": "rxfh",
	"--set-eee": "eee", "--set-fec": "fec", "--set-priv-flags": "priv-flags", "--set-tunable": "tunable",
}

// ethtoolFeatures are the long names, and the kernel's, of the features that have a short one.
var ethtoolFeatures = map[string]string{
	"rx-checksumming": "rx", "tx-checksumming": "tx", "scatter-gather": "sg",
	"tcp-segmentation-offload": "tso", "udp-fragmentation-offload": "ufo",
	"generic-segmentation-offload": "gso", "generic-receive-offload": "gro",
	"large-receive-offload": "lro", "rx-vlan-offload": "rxvlan", "tx-vlan-offload": "txvlan",
	"ntuple-filters": "ntuple", "receive-hashing": "rxhash",
	"rx-gro": "gro", "rx-lro": "lro", "tx-generic-segmentation": "gso", "tx-tcp-segmentation": "tso", "rx-checksum": "rx",
	"tx-scatter-gather": "sg", "rx-hashing": "rxhash", "rx-ntuple-filter": "ntuple", "rx-vlan-hw-parse": "rxvlan",
	"tx-vlan-hw-insert": "txvlan",
}

// ethtoolSingles are words of -X that stand alone.
var ethtoolSingles = map[string]bool{"default": true, "start": true, "delete": true}

// ethtoolCommand reads one ethtool command line: an option, the interface and
// name value pairs, each pair a setting named ethtool:GROUP/NAME.
func (s *scanner) ethtoolCommand(words []word, base Entry) {
	if len(words) < 2 {
		return
	}
	group, ok := ethtoolGroups[words[0].text]
	if !ok {
		return
	}
	base.Iface = s.ifaceOf(words[1])
	for i := 2; i < len(words); i++ {
		k := words[i]
		if ethtoolSingles[k.text] && group == "rxfh" {
			continue
		}
		if i+1 == len(words) {
			s.reject(k.line, k.span, "ethtool expects a value after "+k.text)
			return
		}
		i++
		v := words[i]
		e := base
		e.Key, e.Value, e.Line, e.KeySpan, e.ValueSpan = k.text, v.text, k.line, k.span, v.span
		if v.expands {
			e.Flags |= Expands
		}
		for _, key := range s.looped(k) {
			e.Name = ethtoolName(group, key.text)
			if e.Flags &^= Expands; v.expands || key.expands {
				e.Flags |= Expands
			}
			s.emit(e)
		}
		if group == "rxfh" && k.text == "weight" {
			return // the rest are weights
		}
	}
}

// looped returns the words that a word stands for which is the variable of a loop,
// else the word itself.
func (s *scanner) looped(w word) []word {
	if name := strings.Trim(w.text, `"${}`); !w.expands || name != s.loop || len(s.over) > maxLoop {
		return []word{w}
	}
	return s.over
}

// maxLoop bounds the words of a loop that are followed.
const maxLoop = 64

// ethtoolName returns the catalog's name of an ethtool setting.
func ethtoolName(group, key string) string {
	if group == "features" {
		if short, ok := ethtoolFeatures[key]; ok {
			key = short
		}
	}
	if group == "eee" && key == "eee" {
		return "ethtool:eee"
	}
	return "ethtool:" + group + "/" + strings.ToLower(key)
}
