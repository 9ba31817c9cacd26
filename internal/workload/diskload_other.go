//go:build !linux && !freebsd

package workload

import (
	"errors"
	"os"
)

// openPastCache fails: without O_DIRECT the cache answers.
func openPastCache(string) (*os.File, error) {
	return nil, errors.New("this system has no O_DIRECT")
}

func alignedBlock(n int) ([]byte, func(), error) { return make([]byte, n), func() {}, nil }

func deviceReads() int64 { return -1 }
