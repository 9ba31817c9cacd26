package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

// inBlock is an interface of a block of a guide; files have the block 0.
type inBlock struct {
	block int
	iface string
}

// mtuOf remembers the MTU that a file of interfaces gives to one.
func (k *checker) mtuOf(e conffile.Entry) {
	switch k.kindOf(e) {
	case conffile.Interfaces, conffile.Netplan, conffile.Ifcfg, conffile.YAML:
	default:
		return // commands run in an order
	}
	if e.Name != "link:mtu" || e.Iface == "" || e.Has(conffile.Expands) || len(k.mtus) >= cacheLimit {
		return
	}
	k.mtus[inBlock{e.Block, e.Iface}] = k.here(e)
}

// judgeTagMTU reports a VLAN whose packets are larger than its interface, named by the
// same files, sends.
func (k *checker) judgeTagMTU() {
	parents := k.links()
	for _, at := range slices.SortedFunc(maps.Keys(k.mtus), func(a, b inBlock) int {
		return cmp.Or(a.block-b.block, cmp.Compare(a.iface, b.iface))
	}) {
		iface := at.iface
		parent, tagged := parents[at]
		if !tagged {
			parent, _, tagged = strings.Cut(iface, ".")
		}
		a, below := k.mtus[at], k.mtus[inBlock{at.block, parent}]
		if !tagged || below == nil {
			continue
		}
		own, err := strconv.Atoi(a.entry.Value)
		most, bad := strconv.Atoi(below.entry.Value)
		if err != nil || bad != nil || own <= most {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"torvalds/linux v6.12 net/8021q/vlan_dev.c, vlan_dev_change_mtu"},
			message: fmt.Sprintf("the MTU of %s, %d, is above that of %s, %d (%s:%d)", iface, own, parent, most,
				below.file.path, below.entry.Line),
			because: "The kernel refuses it, and the VLAN keeps the MTU that it has."})
	}
}
