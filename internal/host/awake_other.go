//go:build !linux

package host

// serveIfAwake does nothing: only Linux has processes that keep processors
// awake.
func serveIfAwake() {}
