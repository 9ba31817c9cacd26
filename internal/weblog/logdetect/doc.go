// Package logdetect finds the format of an access log from its first lines: [Detect].
// What a log does not say, such as the unit of whole numbers, is asked for in an error
// that names the flag to give.
package logdetect
