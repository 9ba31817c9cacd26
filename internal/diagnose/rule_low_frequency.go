package diagnose

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// lowFrequency finds a processor that runs far below its highest frequency.
func lowFrequency() Rule {
	return Rule{
		ID: "processor-slowed", Title: "The CPU runs far below its maximum frequency", Systems: []string{"freebsd", "linux"},
		Needs: []string{"freebsd:settings", "linux:messages"}, Severity: Info,
		Because: "A packet costs CPU cycles: at a fraction of the frequency a core handles a fraction of the packets. A low " +
			"frequency is normal while idle, but powerd may also be configured to stay there.",
		Confirm: "The frequency stays this low while the transfer runs.",
		Check: func(in Input) []Finding {
			if in.Facts.System == "linux" {
				return throttled(in.Facts)
			}
			now, src, ok := setting(in.Facts, "dev.cpu.0.freq")
			levels, known := in.Facts.Setting("dev.cpu.0.freq_levels")
			first, _, _ := strings.Cut(levels, "/")
			most, err := strconv.ParseInt(strings.TrimSpace(first), 10, 32)
			if !ok || !known || err != nil || now <= 0 || 2*now > most {
				return nil
			}
			return with(Info, do("set powerd to follow the load: powerd_flags=\"-a hiadaptive\" in /etc/rc.conf",
				one("CPU", []facts.Source{src, in.Facts.Settings["dev.cpu.0.freq_levels"].Source},
					"it runs at %d of %d MHz", now, most)))
		},
		Fires: freebsdExample("sysctl -a", "dev.cpu.0.freq: 408\ndev.cpu.0.freq_levels: 1416/-1 1008/-1 408/-1\n"),
		Quiet: freebsdExample("sysctl -a", "dev.cpu.0.freq: 1416\ndev.cpu.0.freq_levels: 1416/-1 1008/-1 408/-1\n"),
	}
}

// throttled finds processors that slowed down for heat (Linux arch/x86/kernel/cpu/mce/therm_throt.c).
func throttled(f *facts.Facts) []Finding {
	lines, n := matching(f, clockThrottled)
	if n == 0 {
		return lowVoltage(f)
	}
	found := one("CPU", lines, "it throttled because of overheating (%s)", counted(n, "line"))
	found[0].Because = "A packet costs CPU cycles: a throttled CPU handles fewer of them."
	found[0].Confirm = "The messages come while it is slow; turbostat or cpupower monitor shows a low frequency under load."
	return do("clean fans and heat sink, improve the airflow; watch sensors under load", found)
}

// lowVoltage finds a Raspberry Pi whose supply is too weak (Linux drivers/hwmon/raspberrypi-hwmon.c, and the firmware's driver
// before it).
func lowVoltage(f *facts.Facts) []Finding {
	lines, n := matching(f, undervoltage)
	if n == 0 {
		return nil
	}
	found := one("power", lines, "the supply voltage was too low (%s)", counted(n, "line"))
	found[0].Because = "The firmware then slows the CPU down, and network cards and disks on USB may fail."
	found[0].Confirm = "vcgencmd get_throttled prints another value than 0x0 while it is slow."
	return decisive(do("use a power supply and cable made for this board, and a powered hub for USB devices", found))
}

// undervoltage and clockThrottled are also the bits of vcgencmd get_throttled, of now and of the time since boot
// (raspberrypi/documentation, graphics-utilities.adoc): 0 and 16 for the voltage, 3 and 19 for the temperature.
var undervoltage = regexp.MustCompile(`\b[Uu]nder-?voltage detected|\bthrottled=0x(?:[0-9a-f]?[13579bdf][0-9a-f]{4}|[0-9a-f]{0,5}[13579bdf])\b`)

var clockThrottled = regexp.MustCompile(`(?:[Cc]ore|[Pp]ackage) temperature(?:/speed)? (?:is )?above threshold, cpu clock (?:is )?throttled|` +
	`\bthrottled=0x(?:[89a-f][0-9a-f]{4}|[0-9a-f]{0,5}[89a-f])\b`)
