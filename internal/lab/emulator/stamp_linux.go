package emulator

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamps tell when the units that are read from a TUN device came to it. The
// device itself keeps no times, and a thread that gets no processor for some
// milliseconds finds in one moment what came in all of them. Where the kernel
// allows it (CAP_BPF, Linux 5.12), a filter on the device (TUNSETFILTEREBPF)
// that lets everything pass writes the time and the identity of each packet to
// memory that is shared with it.
type stamps struct {
	mem  []byte
	next uint64 // the first record that no unit has been found for
	zero int64  // of the engine's clock, on CLOCK_MONOTONIC
}

// The shared memory has the number of records so far, at stampsDone how many of
// them the engine needs no more, and from stampsAt on a ring of them, each a time
// and an identity. The filter sees packets too that find the device full; it leaves
// out what comes while there are more records than the device holds units, so that
// no flood takes the place of the records of what waits.
const (
	stampCount = 1 << 15
	stampSize  = 16
	stampsDone = 8
	stampsAt   = 64
	stampLimit = RingLength + 64
	// stampSpare records may be of packets that are just on their way into a
	// device that is seen empty.
	stampSpare = 256
)

// identityAt are the offsets of an IP packet's words that tell it from its
// neighbours: length and identification, a TCP sequence number or a UDP checksum
// in IPv4, the same in IPv6, where IPv4 has TCP's timestamps.
var identityAt = [...]int{0, 24, 44}

func identity(ip []byte) (id uint64) {
	for _, at := range identityAt {
		if at+8 <= len(ip) {
			id ^= binary.NativeEndian.Uint64(ip[at:])
		}
	}
	return id
}

// stampArrivals makes the kernel note when packets come to a TUN device. zero is
// the zero of the times, on CLOCK_MONOTONIC.
func stampArrivals(tun int, zero int64) (*stamps, error) {
	const size = stampsAt + stampCount*stampSize
	table, err := bpf(unix.BPF_MAP_CREATE, unsafe.Pointer(&struct{ kind, key, value, entries, flags uint32 }{
		unix.BPF_MAP_TYPE_ARRAY, 4, size, 1, unix.BPF_F_MMAPABLE,
	}), 20)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	defer unix.Close(table)
	code := stampProgram(table)
	license := []byte("BSD\x00")
	filter, err := bpf(unix.BPF_PROG_LOAD, unsafe.Pointer(&struct {
		kind, length  uint32
		code, license unsafe.Pointer
	}{unix.BPF_PROG_TYPE_SOCKET_FILTER, uint32(len(code)), unsafe.Pointer(&code[0]), unsafe.Pointer(&license[0])}), 24)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	defer unix.Close(filter)
	mem, err := unix.Mmap(table, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	if err := unix.IoctlSetPointerInt(tun, unix.TUNSETFILTEREBPF, filter); err != nil {
		unix.Munmap(mem)
		return nil, fmt.Errorf("filter of a TUN device: %w", err)
	}
	return &stamps{mem: mem, zero: zero}, nil
}

// release takes the filter off the device.
func (s *stamps) release(tun int) {
	if s != nil {
		unix.IoctlSetPointerInt(tun, unix.TUNSETFILTEREBPF, -1)
		unix.Munmap(s.mem)
	}
}

// of returns when the unit with this packet came, which was read after all those
// asked about before. Records without a unit are of packets that found the
// device full.
func (s *stamps) of(ip []byte) (at int64, ok bool) {
	if s == nil {
		return 0, false
	}
	id := identity(ip)
	for i, count := s.next, s.count(); i < count; i++ {
		record := s.mem[stampsAt+i%stampCount*stampSize:]
		if binary.NativeEndian.Uint64(record[8:]) == id {
			s.done(i + 1)
			return int64(binary.NativeEndian.Uint64(record)) - s.zero, true
		}
	}
	return 0, false
}

// empty notes that the device has been seen empty: what it was full for is gone.
func (s *stamps) empty() {
	if s == nil {
		return
	}
	if count := s.count(); count > s.next+stampSpare {
		s.done(count - stampSpare)
	}
}

func (s *stamps) count() uint64 { return atomic.LoadUint64((*uint64)(unsafe.Pointer(&s.mem[0]))) }

// done frees the records before next.
func (s *stamps) done(next uint64) {
	s.next = next
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&s.mem[stampsDone])), next)
}

func bpf(command uintptr, attr unsafe.Pointer, size uintptr) (fd int, err error) {
	n, _, errno := unix.Syscall(unix.SYS_BPF, command, uintptr(attr), size)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// bpfInsn is one instruction (RFC 9669, section 3). regs is the source register
// and, in the low half, the destination, as little-endian machines have it;
// elsewhere the kernel refuses the program.
type bpfInsn struct {
	code, regs uint8
	off        int16
	imm        int32
}

// stampProgram returns the filter: 6 is the packet, 7 its identity, 8 the time.
func stampProgram(table int) []bpfInsn {
	const (
		move       = unix.BPF_ALU64 | unix.BPF_MOV | unix.BPF_X
		set        = unix.BPF_ALU64 | unix.BPF_MOV
		store      = unix.BPF_STX | unix.BPF_MEM | unix.BPF_DW
		load       = unix.BPF_LDX | unix.BPF_MEM | unix.BPF_DW
		loadBytes  = 26 // bpf_skb_load_bytes(packet, offset, to, length), zeroes on failure
		monotonic  = 5  // bpf_ktime_get_ns()
		stack      = -8
		call, exit = unix.BPF_JMP | unix.BPF_CALL, unix.BPF_JMP | unix.BPF_EXIT
	)
	p := []bpfInsn{{move, 0x16, 0, 0}, {set, 7, 0, 0}}
	for _, at := range identityAt {
		p = append(p,
			bpfInsn{move, 0x61, 0, 0}, bpfInsn{set, 2, 0, int32(at)},
			bpfInsn{move, 0xa3, 0, 0}, bpfInsn{unix.BPF_ALU64 | unix.BPF_ADD, 3, 0, stack},
			bpfInsn{set, 4, 0, 8}, bpfInsn{call, 0, 0, loadBytes},
			bpfInsn{load, 0xa1, stack, 0},
			bpfInsn{unix.BPF_ALU64 | unix.BPF_XOR | unix.BPF_X, 0x17, 0, 0})
	}
	return append(p,
		bpfInsn{call, 0, 0, monotonic}, bpfInsn{move, 0x08, 0, 0},
		bpfInsn{unix.BPF_LD | unix.BPF_IMM | unix.BPF_DW, unix.BPF_PSEUDO_MAP_VALUE<<4 | 1, 0, int32(table)}, bpfInsn{},
		bpfInsn{load, 0x12, 0, 0}, bpfInsn{load, 0x13, stampsDone, 0},
		bpfInsn{unix.BPF_ALU64 | unix.BPF_SUB | unix.BPF_X, 0x32, 0, 0},
		bpfInsn{unix.BPF_JMP | unix.BPF_JGE, 2, 7, stampLimit}, // to what follows the stores
		bpfInsn{set, 2, 0, 1}, // the number of this record
		bpfInsn{unix.BPF_STX | unix.BPF_ATOMIC | unix.BPF_DW, 0x21, 0, unix.BPF_ADD | unix.BPF_FETCH},
		bpfInsn{unix.BPF_ALU64 | unix.BPF_AND, 2, 0, stampCount - 1},
		bpfInsn{unix.BPF_ALU64 | unix.BPF_MUL, 2, 0, stampSize},
		bpfInsn{unix.BPF_ALU64 | unix.BPF_ADD | unix.BPF_X, 0x21, 0, 0},
		bpfInsn{store, 0x81, stampsAt, 0}, bpfInsn{store, 0x71, stampsAt + 8, 0},
		// All of the packet passes.
		bpfInsn{unix.BPF_LDX | unix.BPF_MEM | unix.BPF_W, 0x60, 0, 0}, bpfInsn{exit, 0, 0, 0})
}
