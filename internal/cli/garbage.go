package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLate puts the first garbage collection off until the heap has 16 MiB, which most verbs never reach: before
// that a collection of the few MiB that a short run holds costs more than it frees. From then on Go's own pace counts.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(4 * 100)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
