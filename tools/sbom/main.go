// Sbom prints a bill of materials, CycloneDX 1.6, of what a Go program contains.
// It tells what the linker wrote into the program, nothing else.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// The types are those of https://cyclonedx.org/docs/1.6/json/.
type bom struct {
	Schema      string      `json:"$schema"`
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	all := []component{part("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, part("library", m.Path, m.Version))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(bom{"http://cyclonedx.org/schema/bom-1.6.schema.json", "CycloneDX", "1.6", 1,
		metadata{part("application", info.Main.Path, version)}, all})
}

func part(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{kind, purl, path, version, purl}
}
