//go:build !linux

package main

import "errors"

var errLinux = errors.New("captures are made on Linux")

func makeAll([]string) error { return errLinux }

func send([]string) error { return errLinux }

func serve([]string) error { return errLinux }
