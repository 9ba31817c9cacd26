// Gencatalog checks the catalog's YAML files and packs them for embedding.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/wirerate/wirerate/internal/catalog"
)

func main() {
	out := flag.String("o", "catalog.pack", "file to write")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "gencatalog:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	records, err := catalog.ReadYAML(os.DirFS(dir))
	if err != nil {
		return err
	}
	if problems := catalog.Check(records); len(problems) > 0 {
		return problems[0]
	}
	pack, err := catalog.Pack(records)
	if err != nil {
		return err
	}
	return os.WriteFile(out, pack, 0o644)
}
