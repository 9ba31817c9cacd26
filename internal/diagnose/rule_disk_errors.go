package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// diskErrors finds disks, or the links to them, that the kernel has to ask again.
func diskErrors() Rule {
	return Rule{
		ID: "disk-errors", Title: "A disk reports errors or does not respond", Severity: Info, Needs: []string{"messages"},
		Because: "A request that fails or times out (after 5 to 30 seconds) is retried: programs wait for it, and so do the " +
			"clients of a file server.",
		Confirm: "The stalls coincide with the messages.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, diskError)
			if n == 0 {
				return nil
			}
			if _, elsewhere := matching(in.Facts, notHere); elsewhere > 0 {
				return nil
			}
			found := do("check the disk (smartctl -a: reallocated and pending sectors); if it is healthy, its cable and power "+
				"(UDMA_CRC_Error_Count grows with a bad cable), then the controller",
				one(firstGroup(diskError, lines[0].Text), lines, "its requests fail or time out (%s)", counted(n, "line")))
			if n > 1 {
				found = decisive(found)
			}
			return found
		},
		Fires: freebsdExample("dmesg", "(ada1:ahcich1:0:0:0): CAM status: Command timeout\nahcich1: Timeout on slot 3 port 0\n"),
		Quiet: freebsdExample("dmesg", "ada1: <EXAMPLE 4TB> ACS-3 ATA SATA 3.x device\nada1: 600.000MB/s transfers (SATA 3.x, "+
			"UDMA6, PIO 8192bytes)\n(cd0:ahcich2:0:0:0): CAM status: SCSI Status Error\n"),
	}
}

// notHere tells of disks of a server, which storage-server-silent judges, and of those that were unplugged.
var notHere = regexp.MustCompile(facts.LostISCSI + `|` + facts.LostNVMeTarget + `|` + facts.FailedPath + `|usb [\d.-]+: USB disconnect`)

// diskError is what FreeBSD (sys/cam, sys/dev/ahci, sys/dev/nvme), Linux (drivers/ata/libata-eh.c, block/blk-core.c,
// drivers/nvme/host/pci.c) and OpenBSD (sys/dev/ata/wd.c, sys/scsi) say of a disk.
var diskError = regexp.MustCompile(`\((a?da\d+|nda\d+):\w+:[\d:]+\): (?:CAM status: (?:Command timeout|ATA Status Error|` +
	`Uncorrectable parity/CRC error)|SCSI sense: (?:MEDIUM|HARDWARE) ERROR)|` +
	`\b((?:ahcich|siisch|mvsch)\d+): Timeout on slot \d|\b(nvme\d+): Resetting controller due to a timeout|` +
	`\b(ata\d+)(?:\.\d+)?: exception Emask 0x|\b(?:I/O|critical medium) error, dev (sd[a-z]+|nvme\d+n\d+|vd[a-z]+)\b|` +
	`\bnvme (nvme\d+): I/O .*timeout, (?:aborting|reset)|\b(wd\d+)\w?: (?:device timeout|uncorrectable data error)|` +
	`\b(sd\d+)\(\w+:\d+:\d+\): (?:timed out|.*MEDIUM ERROR)`)
