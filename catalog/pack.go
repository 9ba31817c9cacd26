// Package catalog embeds the settings' records: catalog.pack, which
// tools/gencatalog writes from the YAML files beside it.
package catalog

import _ "embed"

//go:generate go run ../tools/gencatalog -o catalog.pack .

// Pack is the packed catalog, for internal/catalog.Open.
//
//go:embed catalog.pack
var Pack []byte
