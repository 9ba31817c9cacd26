// Wirerate finds what limits a network path, tunes it, and proves what helped.
package main

import (
	"os"

	"github.com/wirerate/wirerate/internal/cli"
)

func main() { os.Exit(cli.Main()) }
