// Package logline says where the fields of an access log's line are and what they hold.
//
// A [Format] comes of a server's format string, the name of a preset or a list of keys
// ([ParseFormat]), or of package logdetect. Its [Decoder] turns a line into a [Request],
// or says what is wrong with it. Times are in microseconds.
package logline
