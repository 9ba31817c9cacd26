// Package catalog embeds the settings' records: the YAML files beside it, as they are.
package catalog

import "embed"

// Files holds the records, one folder for each system, for internal/catalog.Open.
//
//go:embed freebsd/*.yaml linux/*.yaml openbsd/*.yaml
var Files embed.FS
