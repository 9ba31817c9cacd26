//go:build !linux

package host

// serveAwake does nothing: only Linux has processes that keep processors awake.
func serveAwake() bool { return false }
