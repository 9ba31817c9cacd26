package facts

import (
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// GuestCard is the model of a card that a hypervisor gives a virtual machine.
type GuestCard struct {
	Model  string `json:"model"`
	Source Source `json:"source"`
}

// GuestCardForm is a line that gives a virtual machine a card: of virsh domiflist ("vnet0 network default rtl8139 52:54:..."),
// of libvirt's XML, of Proxmox ("net0: e1000=BC:24:...,bridge=vmbr0"), of VMware and of QEMU's command line. One of its groups
// is the model.
var GuestCardForm = regexp.MustCompile(`^\s*\S+\s+(?:network|bridge|direct|ethernet|user|` +
	`internal)\s+\S+\s+([a-z][\w-]+)\s+(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\s*$|` +
	`<model type=['"]([a-z][\w-]+)['"] ?/>|^net\d+: ([a-z]\w+)(?:=(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})?,(?:\S+,)?bridge=|` +
	`^ethernet\d+\.virtualDev = "(\w+)"|-device ([a-z][\w-]+),(?:\S+,)?netdev=|-net nic,(?:\S+,)?model=([a-z][\w-]+)`)

func (f *Facts) readGuestCards(t text) error {
	for i, line := range t.lines() {
		if len(line) > 4096 || len(f.GuestCards) >= rowLimit {
			continue
		}
		if m := GuestCardForm.FindStringSubmatch(line); m != nil {
			f.GuestCards = append(f.GuestCards, GuestCard{strings.Join(m[1:], ""), f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(len(f.GuestCards) > 0)
}

// OSD is one of Ceph's disks with how long it takes to commit a write, as ceph osd perf shows it in milliseconds.
type OSD struct {
	ID     string `json:"id"`
	Commit int    `json:"commit_ms"`
	Source Source `json:"source"`
}

var osdRow = regexp.MustCompile(`^\s*(?:osd\.)?(\d{1,6})\s+(\d{1,7})\s+\d{1,7}\s*$`)

func (f *Facts) readOSDs(t text) error {
	for i, line := range t.lines() {
		if m := osdRow.FindStringSubmatch(line); m != nil && len(f.OSDs) < rowLimit {
			f.OSDs = append(f.OSDs, OSD{m[1], smallNumber(m[2]), f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(len(f.OSDs) > 0)
}

// The table of ports of ESXi's esxtop, whose last columns are the shares of packets that were dropped.
const (
	esxtopHead = `^\s*PORT-ID\s.*\bPKTRX/s\b.*%DRPTX\s+%DRPRX\s*$`
	esxtopName = `^\s*\d{8,}\s+(?:\d+:)?(\S+)\s`
)

var (
	esxtopHeads = regexp.MustCompile(esxtopHead)
	esxtopNames = regexp.MustCompile(esxtopName)
)

// esxtopLosses reads the rows of ports, and reports whether there are any.
func (f *Facts) esxtopLosses(t text) (found bool) {
	var behind map[string]int // how many columns stand behind one: the names in a row may have blanks
	for i, line := range t.lines() {
		if len(line) > 1024 {
			continue
		}
		words := strings.Fields(line)
		if esxtopHeads.MatchString(line) {
			behind = map[string]int{}
			for k, head := range words {
				behind[head] = len(words) - k
			}
			continue
		}
		m := esxtopNames.FindStringSubmatch(line)
		if m == nil || behind == nil {
			continue
		}
		found = true
		f.use(t.from, i+1)
		for _, way := range []string{"TX", "RX"} {
			dropped := "%DRP" + way
			at, of := behind[dropped], behind["PKT"+way+"/s"]
			if of == 0 || max(at, of) > len(words) || len(f.LossCounts) >= rowLimit {
				continue
			}
			share, ok := positive(words[len(words)-at])
			packets, known := positive(words[len(words)-of])
			if ok && known && share > 0 && share < 100 && packets > 0 && packets < 1e9 {
				f.LossCounts = append(f.LossCounts, LossCount{Scope: m[1], Name: dropped, Lost: uint64(math.Round(packets * share / (100 - share))),
					Of: "packets per second", Beside: uint64(packets), Source: f.Line(t.from, i+1), Total: f.Line(t.from, i+1)})
			}
		}
	}
	return found
}
