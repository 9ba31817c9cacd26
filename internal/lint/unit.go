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

// form is how systemd reads a value.
type form string

// The forms of values in systemd.link(5).
const (
	formText   form = ""       // not judged here
	formBool   form = "bool"   // parse_boolean
	formAmount form = "amount" // 1 to 4294967295, or max
	formQueues form = "queues" // 1 to 4096
	formLength form = "length" // 0 to 4294967294
	formDead   form = "dead"   // accepted and ignored
)

// linkKeys are the options of the [Link] section of .link files
// (systemd.link(5) of 252, and the newer ones of which nixpkgs' systemd.network checks know).
func linkKeys() map[string]form {
	keys := map[string]form{"UDPSegmentationOffload": formDead, "TransmitQueueLength": formLength}
	for kind, names := range map[form]string{
		formText: `Description MACAddressPolicy MACAddress NamePolicy Name AlternativeName AlternativeNamesPolicy Alias MTUBytes
			BitsPerSecond Duplex WakeOnLan WakeOnLanPassword Port Advertise GenericSegmentOffloadMaxBytes
			GenericSegmentOffloadMaxSegments RxCoalesceSec RxMaxCoalescedFrames RxCoalesceIrqSec RxMaxCoalescedIrqFrames
			TxCoalesceSec TxMaxCoalescedFrames TxCoalesceIrqSec TxMaxCoalescedIrqFrames StatisticsBlockCoalesceSec
			CoalescePacketRateLow RxCoalesceLowSec RxMaxCoalescedLowFrames TxCoalesceLowSec TxMaxCoalescedLowFrames
			CoalescePacketRateHigh RxCoalesceHighSec RxMaxCoalescedHighFrames TxCoalesceHighSec TxMaxCoalescedHighFrames
			CoalescePacketRateSampleIntervalSec MDI SR-IOVVirtualFunctions Property ImportProperty UnsetProperty
			ReceivePacketSteeringCPUMask`,
		formBool: `AutoNegotiation ReceiveChecksumOffload TransmitChecksumOffload GenericSegmentationOffload TCPSegmentationOffload
			TCP6SegmentationOffload GenericReceiveOffload LargeReceiveOffload RxFlowControl TxFlowControl
			AutoNegotiationFlowControl UseAdaptiveRxCoalesce UseAdaptiveTxCoalesce GenericReceiveOffloadHardware NTupleFilter
			PartialGenericSegmentationOffload ReceiveVLANCTAGHardwareAcceleration TransmitVLANCTAGHardwareAcceleration
			ReceiveVLANCTAGFilter TransmitVLANSTAGHardwareAcceleration ReceiveFCS ReceiveAll ScatterGather
			ScatterGatherFragmentList TCPECNSegmentationOffload TCPMangleIdSegmentationOffload GenericReceiveOffloadList
			GenericReceiveOffloadUDPForwarding`,
		formAmount: `RxChannels TxChannels OtherChannels CombinedChannels RxBufferSize RxMiniBufferSize RxJumboBufferSize TxBufferSize`,
		formQueues: `TransmitQueues ReceiveQueues`,
	} {
		for _, name := range strings.Fields(names) {
			keys[name] = kind
		}
	}
	return keys
}

// networkLinkKeys are the options of the [Link] section of .network files
// (src/network/networkd-network-gperf.gperf).
func networkLinkKeys() map[string]form {
	return map[string]form{"MACAddress": formText, "MTUBytes": formText, "Group": formText, "ARP": formBool,
		"Multicast":    formBool,
		"AllMulticast": formBool, "Promiscuous": formBool, "Unmanaged": formBool, "ActivationPolicy": formText,
		"RequiredForOnline": formText, "RequiredFamilyForOnline": formText}
}

// matchKeys are the options of the [Match] section, with those of one kind of
// file alone.
func matchKeys(own string) map[string]form {
	keys := map[string]form{}
	for _, name := range strings.Fields(own + ` MACAddress PermanentMACAddress Path Driver Type Kind Property Host Virtualization
		KernelCommandLine KernelVersion Credential Architecture Firmware`) {
		keys[name] = formText
	}
	return keys
}

// unitFile judges a line of the [Match] or [Link] section of a systemd.link or
// systemd.network file: slips of the keyboard, options of the other kind of file, and
// what [Link] of a .link file does not have.
func (k *checker) unitFile(e conffile.Entry) *finding {
	option, isLink := strings.CutPrefix(e.Name, "link-file:")
	if !isLink {
		var ok bool
		if option, ok = strings.CutPrefix(e.Name, "network-file:"); !ok {
			return nil
		}
	}
	section := "Link"
	if i := strings.LastIndexByte(option, '/'); i >= 0 {
		section, option = option[:i], option[i+1:]
	}
	source, other := []string{"systemd.link(5)"}, ".network"
	if !isLink {
		source, other = []string{"systemd.network(5)"}, ".link"
	}
	told := func(code, message string) *finding {
		return &finding{code: code, severity: Warning, sources: source,
			because: "systemd logs the line and ignores it.", message: message}
	}
	var here, there map[string]form
	switch {
	case section == "Link":
		here, there = linkKeys(), networkLinkKeys()
	case section == "Match":
		here, there = matchKeys("OriginalName"), matchKeys("Name WLANInterfaceType SSID BSSID")
	case strings.EqualFold(section, "Link") || strings.EqualFold(section, "Match"):
		return told("unknown-key",
			fmt.Sprintf("%s is in a section [%s], which does not exist; did you mean [%s%s]?", e.Key, section,
				strings.ToUpper(section[:1]), strings.ToLower(section[1:])))
	case !isLink:
		k.rememberNetdev(e)
		return cmp.Or(networkd(section, option), bondSeconds(e, section, option))
	case networkdSections()[section] != nil && section != "SR-IOV":
		return told("wrong-file", fmt.Sprintf("[%s] is a section of .network files, and a .link file has none of that name", section))
	default:
		return nil
	}
	if !isLink {
		here, there = there, here
	}
	if kind, known := here[option]; known {
		return unitValue(e, kind, source)
	}
	if _, elsewhere := there[option]; elsewhere {
		return told("wrong-file", fmt.Sprintf("%s is an option of [%s] in %s files", e.Key, section, other))
	}
	if near := slipFrom(option, slices.Sorted(maps.Keys(here))); near != "" {
		f := told("unknown-key", e.Key+" does not exist; did you mean "+near+"?")
		f.fix = &Fix{Kind: FixRename, To: near, Reason: f.message}
		return f
	}
	if section == "Link" {
		f := told("unknown-key", e.Key+" is not a known option of [Link]")
		f.because += " A newer systemd may have it."
		return f
	}
	return nil
}

// unitValue judges a value by its form. An empty value takes earlier ones back.
func unitValue(e conffile.Entry, kind form, source []string) *finding {
	takes := ""
	n, err := strconv.ParseUint(e.Value, 0, 32)
	switch {
	case kind == formDead:
		return &finding{code: "no-effect", severity: Warning, sources: source,
			because: "The kernel feature went with Linux 4.14.",
			message: e.Key + " is accepted but ignored"}
	case e.Value == "" || isTemplate(e.Value):
	case kind == formBool && !slices.Contains(strings.Fields("1 yes y true t on 0 no n false f off"),
		strings.ToLower(e.Value)):
		takes = "yes or no"
	case kind == formAmount && e.Value != "max" && (err != nil || n < 1):
		takes = "1 to 4294967295, or max"
	case kind == formQueues && (err != nil || n < 1 || n > 4096):
		takes = "1 to 4096"
	case kind == formLength && (err != nil || n > 4294967294):
		takes = "0 to 4294967294"
	}
	if takes == "" {
		return nil
	}
	return &finding{code: "bad-value", severity: Error, sources: source, value: true,
		because: "systemd logs the line and ignores it.",
		message: fmt.Sprintf("%s takes %s, not %s", e.Key, takes, strconv.Quote(e.Value))}
}
