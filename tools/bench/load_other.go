//go:build !linux

package main

import "errors"

// runLoad is what labs run, which only Linux has.
func runLoad(string, []string) error { return errors.ErrUnsupported }
