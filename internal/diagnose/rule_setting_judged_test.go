package diagnose

import "testing"

// TestJudgedSettings: a value that the kernel computed from memory is nobody's
// setting, and what a host allows of files is not what limits a path.
func TestJudgedSettings(t *testing.T) {
	const memory = "MemTotal:       24683940 kB\n"
	for value, want := range map[string]int{"2466170": 0, "9223372036854775807": 0, "65535": 1} {
		_, found, _ := judge(t, linuxExample("/proc/meminfo", memory, "sysctl -a", "fs.file-max = "+value+"\n"))
		if len(found) != want || want == 1 && found[0].Severity != Info {
			t.Errorf("%s: %+v", value, found)
		}
	}
}
