package logline

import (
	"bytes"
	"strings"
)

// endedEarlyHAProxy reports whether a termination state says that the request
// was not answered to its end: its first letter names who ended it, the client
// or the server, in upper case by hanging up, in lower case by a timeout, or
// HAProxy for want of a resource or a server (configuration manual, "Session
// state at disconnection"). P and L are answers of HAProxy's own.
func endedEarlyHAProxy(b []byte) bool {
	return len(b) >= 2 && strings.IndexByte("CcSsDUKIR", b[0]) >= 0
}

// endedEarlyEnvoy does so for Envoy's response flags: the connection to the
// client or the server broke, or a timeout ended the request.
func endedEarlyEnvoy(b []byte) bool {
	for flag := range bytes.SplitSeq(b, []byte{','}) {
		switch string(flag) {
		case "DC", "LR", "RR", "UR", "UC", "UF", "UT", "DT", "SI", "DPE", "UPE":
			return true
		}
	}
	return false
}

// endedEarlyApache does so for %X: X is a connection aborted before the end.
func endedEarlyApache(b []byte) bool { return len(b) == 1 && b[0] == 'X' }
