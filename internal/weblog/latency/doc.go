// Package latency counts times and says how exactly the counts are known: a [Hist] of
// all values, a [Group] of some of them in less memory, and a [Dist] of a log in parts,
// which gives shares and percentiles with intervals. Times are in microseconds.
package latency
