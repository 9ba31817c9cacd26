package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

// statusLimit is how long a lab may take to say what its links did.
const statusLimit = 10 * time.Second

// statusSocket is where the process that holds a lab answers, beside the record.
func statusSocket(record string) string { return strings.TrimSuffix(record, ".json") + ".sock" }

// inFolder calls do with a short name for a socket: the system takes no more than
// 107 bytes, which a folder's own name may have.
func inFolder(socket string, do func(name string) error) error {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)))
}

// answerStatus answers whoever connects to a record's socket with the status.
func answerStatus(record string, status func() Status) (stop func(), err error) {
	var listener net.Listener
	err = inFolder(statusSocket(record), func(name string) (err error) {
		os.Remove(name)
		listener, err = net.Listen("unix", name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("status of the lab: %w", err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // its name ends with this function
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(statusLimit))
			_ = json.NewEncoder(conn).Encode(status()) // who asked sees what is missing
			conn.Close()
		}
	}()
	return func() { listener.Close() }, nil
}

// Status asks the process that holds the lab what its links did since they came
// up.
func (k Kept) Status(ctx context.Context) (Status, error) {
	var s Status
	err := inFolder(statusSocket(k.file), func(name string) error {
		conn, err := (&net.Dialer{Timeout: statusLimit}).DialContext(ctx, "unix", name)
		if err != nil {
			return err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(statusLimit))
		return json.NewDecoder(input.Limit(conn, "its answer", recordLimit)).Decode(&s)
	})
	if err != nil {
		return Status{}, fmt.Errorf("status of lab %s: %w", k.Name, err)
	}
	return s, nil
}
