// Package catalog embeds the settings' records and tables: the YAML files beside it, as they are.
package catalog

import "embed"

// Files holds the records, one folder for each system, for internal/catalog.Open, and the tables.
//
//go:embed *.yaml freebsd/*.yaml linux/*.yaml openbsd/*.yaml checked.txt seen.txt
var Files embed.FS
