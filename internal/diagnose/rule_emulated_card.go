package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// emulatedCard finds a virtual machine with an imitation of an old card.
func emulatedCard() Rule {
	return Rule{
		ID: "emulated-card", Title: "A virtual machine uses an emulated network card", Severity: Warning,
		Needs: []string{"linux:driver *|lspci|guest cards|messages", "freebsd:messages|interface counters",
			"openbsd:messages|interface counters"},
		Because: "Every register access of an emulated card causes an exit to the hypervisor; a paravirtual card (virtio, " +
			"vmxnet3, ENA, netvsc) uses shared memory.",
		Check: func(in Input) (out []Finding) {
			if found := emulatedForGuest(in.Facts); found != nil {
				return found
			}
			if in.Facts.System != "linux" {
				return emulatedOnBSD(in.Facts)
			}
			virtual := virtualMachine(in.Facts)
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				down := !n.Up && !n.StateUnknown && n.MTU > 0
				if !down && (virtual || virtualAddress.MatchString(n.MAC)) && slices.Contains([]string{"e1000", "8139cp", "8139too", "pcnet32", "ne2k-pci", "tulip"}, n.Driver) {
					out = append(out, do(paravirtual, one(n.Name, []facts.Source{n.Shown["driver"]},
						"it is an emulated card (driver %s) in a virtual machine", n.Driver))...)
				}
			}
			if out == nil {
				out = imitatedOnBus(in.Facts)
			}
			if out == nil {
				out = emulatedInLog(in.Facts, virtual)
			}
			return out
		},
		Fires: emulatedExample("e1000"),
		Quiet: emulatedExample("virtio_net"),
	}
}

// paravirtual is what to do about an emulated card.
const paravirtual = "give the virtual machine a paravirtual card: <model type='virtio'/> (virsh edit VM), qm set VMID --net0 " +
	"virtio,bridge=BRIDGE (Proxmox), ethernet0.virtualDev = \"vmxnet3\" (VMware); then stop and start it"

// emulatedForGuest finds a hypervisor's configuration that gives a virtual machine such a card.
func emulatedForGuest(f *facts.Facts) []Finding {
	at := slices.IndexFunc(f.GuestCards, func(c facts.GuestCard) bool { return slices.Contains(emulatedModels, c.Model) })
	if at < 0 {
		return nil
	}
	return do(paravirtual, one("virtual machine",
		[]facts.Source{f.GuestCards[at].Source}, "its card is an emulated %s", f.GuestCards[at].Model))
}

// emulatedModels are cards that hypervisors imitate, by the names that their configurations have for them.
var emulatedModels = strings.Fields("e1000 e1000e e1000-82545em rtl8139 pcnet ne2k_pci ne2k_isa i82551 i82557b i82559er vlance")

// imitatedOnBus finds, in the list of devices, a card for PCI slots on the root bus, where only hypervisors put one: on
// boards such cards are behind a bridge.
func imitatedOnBus(f *facts.Facts) []Finding {
	for i, line := range f.Lines("lspci -vv") {
		if m := oldCardOnRoot.FindStringSubmatch(line); m != nil {
			return do(paravirtual, one(m[1], []facts.Source{f.Line("lspci -vv", i+1)},
				"it is an emulated card (%s) of a hypervisor", m[2]))
		}
	}
	return nil
}

// emulatedInLog finds the driver of such a card in the log of a host that is, or that the post says is, a virtual machine.
func emulatedInLog(f *facts.Facts, virtual bool) []Finding {
	lines, n := matching(f, oldDriverUp)
	if n == 0 || !virtual && !hypervisorNamed.MatchString(f.Rest) {
		return nil
	}
	m := oldDriverUp.FindStringSubmatch(lines[0].Text)
	return do(paravirtual, one(m[2], lines, "it is an emulated card (driver %s) in a virtual machine", m[1]))
}

// emulatedOnBSD finds in the boot messages the old cards that hypervisors imitate, and cards with the address of a hypervisor
// that count a collision for almost every packet.
func emulatedOnBSD(f *facts.Facts) []Finding {
	for i := range f.NICs {
		n := &f.NICs[i]
		_, c := largest(nicCounters(n, "netstat.Coll", "netstat.Colls"))
		if sent := sentPackets(n); virtualAddress.MatchString(n.MAC) && c.Value > warningCount && c.Value*10 > sent*9 {
			return do(paravirtual, one(n.Name, []facts.Source{c.Source}, "this is an emulated card: its MAC "+
				"address %s is from a hypervisor's range, and its collisions (%d for %d packets sent) are not "+
				"real", n.MAC, c.Value, sent))
		}
	}
	guest, _ := f.Setting("kern.vm_guest")
	_, told := matching(f, virtualBoot)
	shown := told > 0 || guest != "" && guest != "none"
	if !shown && !hypervisorNamed.MatchString(f.Rest) {
		return nil
	}
	lines, n := matching(f, imitatedCard)
	if n == 0 {
		return nil
	}
	card := imitatedCard.FindStringSubmatch(lines[0].Text)
	found := do(paravirtual, one(card[1], lines, "it is an emulated card (%s) in a virtual machine", card[2]))
	if !shown {
		found[0].Confirm = "sysctl kern.vm_guest (OpenBSD: dmesg) names the hypervisor."
	}
	return found
}

// virtualMachine reports whether a processor, the kernel's log or the list of devices is of a virtual machine.
func virtualMachine(f *facts.Facts) bool {
	return slices.ContainsFunc(slices.Concat(f.Lines("/proc/cpuinfo"), f.Lines("lscpu")), virtualProcessor) ||
		slices.ContainsFunc(slices.Concat(f.Lines("dmesg"), f.Lines("lspci -vv")), virtualHardware.MatchString)
}

var (
	// virtualHardware is what the kernel's log says of a hypervisor, and lspci of the devices that it imitates.
	virtualHardware = regexp.MustCompile(`Hypervisor detected: |\bDMI: (?:QEMU|VMware|innotek|Bochs|Red Hat KVM|Xen |` +
		`Microsoft Corporation Virtual)|Subsystem: .*(?:QEMU|VMware|VirtualBox)`)
	// virtualAddress is an Ethernet address that QEMU's tools, VMware, VirtualBox, Xen or Hyper-V give.
	virtualAddress = regexp.MustCompile(`(?i)^(?:52:54:00|00:0c:29|00:50:56|00:05:69|08:00:27|00:16:3e|00:15:5d):`)
	// oldCardOnRoot is lspci's line of such a card: QEMU's e1000, rtl8139, ne2k_pci and pcnet, VirtualBox' 82545EM and PCnet.
	oldCardOnRoot = regexp.MustCompile(`^(?:0000:)?(00:[0-9a-f]{2}\.[0-7]) (?:Ethernet|Network) controller: .*` +
		`(8254[05]EM|RTL-8100/8101L/8139|RTL-?8139|RTL-8029|79[Cc]970)`)
	// oldDriverUp is what drivers of such cards log of a link that comes up.
	oldDriverUp = regexp.MustCompile(`\b(e1000|8139cp|8139too|pcnet32)(?: [0-9a-f:.]{7,12})?:? (\w+):? (?:NIC Link is Up|link up,)`)
	// imitatedCard is an old card that a hypervisor imitates.
	imitatedCard = regexp.MustCompile(`\b((?:em|re|rl|le|pcn|de)\d+)(?:: <| at pci).*(8254[05]EM|RTL8139|` +
		`8139C\+|Am79C97\d|PCnet)`)
	// hypervisorNamed is how the author of a post says that the host is a virtual machine.
	hypervisorNamed = regexp.MustCompile(`(?i)\b(?:on|in|under|within|inside) (?:a |an |my )?(?:VM on )?(?:VMware |vSphere )?` +
		`(?:ESXi?|VMware|vSphere|Proxmox|KVM|QEMU|VirtualBox|XCP-ng|XenServer|Hyper-V)\b`)
	// virtualBoot is what FreeBSD and OpenBSD say at boot of a hypervisor and its devices.
	virtualBoot = regexp.MustCompile(`(?i)^Hypervisor: Origin|QEMU Virtual CPU|Common KVM processor|` +
		`vendor (?:QEMU|innotek|VMware)|` +
		`VBOX |VMware Virtual`)
)

func virtualProcessor(line string) bool {
	return strings.HasPrefix(strings.ToLower(line), "flags") && hasWord(line, "hypervisor") || strings.HasPrefix(line,
		"Hypervisor vendor:")
}

func emulatedExample(driver string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/cpuinfo",
		"processor\t: 0\nflags\t\t: fpu sse2 hypervisor lahf_lm\n", "ethtool -i eth0",
		"driver: "+driver+"\nbus-info: 0000:00:03.0\n")
}
