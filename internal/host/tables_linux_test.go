package host

import (
	"bytes"
	"net"
	"testing"
)

// A table is read into the room that is given, and whole where that is too little.
func TestRoomOfTables(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	head := []byte{byte(port >> 8), byte(port)} // as struct inet_diag_sockid has it
	for _, kind := range []Table{Connections, ConnectionList} {
		for _, room := range []int{0, 10, 1 << 24} {
			op := ReadTable(kind)
			op.Data = make([]byte, 0, room)
			a, err := One(t.Context(), NewLocal(), op)
			if err != nil || a.Err() != nil {
				t.Skip(err, a.Err()) // a system that shows none
			}
			if !bytes.Contains(a.Out, head) {
				t.Errorf("%s with room for %d bytes has no socket of port %d", kind, room, port)
			}
			if used := cap(a.Out) == room; used != (room == 1<<24) {
				t.Errorf("%s: %d bytes of room for %d", kind, cap(a.Out), room)
			}
		}
	}
}
