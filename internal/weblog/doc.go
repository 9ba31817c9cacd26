// Package weblog turns web servers' access logs into distributions of request
// times: what visitors felt, counted exactly, at a fixed cost in memory.
//
// [Read] runs the lines of any number of inputs through a logline.Format into a
// [Sketch]; sketches of different servers merge. [Summarize] makes a [Report] of a
// sketch, [Compare] of two. Durations are in microseconds inside the package and in
// seconds in a report.
//
// What a log line says is hostile: nothing of it is printed before logline.Escape.
package weblog
