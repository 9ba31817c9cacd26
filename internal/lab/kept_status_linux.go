package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// Requests to the process that holds a lab, each a line.
const (
	statusRequest = "status"
	endRequest    = "end"
)

// attend answers whoever asks at a record's socket with the status, or ends the
// lab.
func attend(record string, status func() Status, end func()) (stop func(), err error) {
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
			go serveRequest(conn, status, end)
		}
	}()
	return func() { listener.Close() }, nil
}

func serveRequest(conn net.Conn, status func() Status, end func()) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(statusLimit))
	line, err := bufio.NewReader(io.LimitReader(conn, 64)).ReadString('\n')
	if err != nil {
		return
	}
	switch strings.TrimSpace(line) {
	case statusRequest:
		_ = json.NewEncoder(conn).Encode(status()) // who asked sees what is missing
	case endRequest:
		end()
	}
}

// ask sends a request to the process that holds the lab and has take read what
// it answers.
func (k Kept) ask(ctx context.Context, request string, take func(io.Reader) error) error {
	return inFolder(statusSocket(k.file), func(name string) error {
		conn, err := (&net.Dialer{Timeout: statusLimit}).DialContext(ctx, "unix", name)
		if err != nil {
			return err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(statusLimit))
		if _, err := fmt.Fprintln(conn, request); err != nil {
			return err
		}
		return take(input.Limit(conn, "its answer", recordLimit))
	})
}

// Status asks the process that holds the lab what its links did since they came
// up.
func (k Kept) Status(ctx context.Context) (Status, error) {
	var s Status
	if err := k.ask(ctx, statusRequest, func(r io.Reader) error { return json.NewDecoder(r).Decode(&s) }); err != nil {
		return Status{}, fmt.Errorf("status of lab %s: %w", k.Name, err)
	}
	return s, nil
}
