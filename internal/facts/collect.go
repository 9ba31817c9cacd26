package facts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/system"
)

// Options say what to collect.
type Options struct {
	// Window is how long counters are observed; 0 takes their totals only.
	Window time.Duration
	// Thorough also asks what takes long on a large machine, for a capture.
	Thorough bool
	// everything also asks what could change a live host: recorded outputs.
	everything bool
	// round is what was posted, of recorded outputs.
	round Round
	// before is how many lines of each source were posted earlier.
	before map[string]int
}

// Errors that Collect wraps.
var (
	ErrNoIdentity = errors.New("uname returned nothing known")
	ErrSystem     = errors.New("this system is not supported; linux, freebsd and openbsd are")
)

// text is what one source answered.
type text struct {
	from string
	data []byte
	// typed is the command that printed it where it was typed in another form: with an interface, an interval, a grep.
	typed string
}

// lines returns the text's lines without their ends.
func (t text) lines() []string {
	s := strings.ReplaceAll(string(t.data), "\r\n", "\n")
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// refusal is a text that holds no facts but the reason why.
type refusal struct {
	state State
	line  int
	why   string
}

func (r *refusal) Error() string { return r.why }

// refused finds a refusal in an output of a line or two: saved outputs hold what
// the command said on standard error.
func refused(t text) *refusal {
	if len(t.data) > 512 {
		return nil
	}
	lines := t.lines()
	if len(lines) > 3 {
		return nil
	}
	for i, line := range lines {
		lower := strings.ToLower(line)
		for _, known := range refusals {
			if strings.Contains(lower, known.words) {
				return &refusal{known.state, i + 1, shorten(line)}
			}
		}
	}
	return nil
}

// refusals are the reasons that ethtool, iproute2, sysctl, shells and sosreport
// give.
var refusals = []struct {
	words string
	state State
}{
	{"operation not permitted", Denied}, {"permission denied", Denied}, {"access denied", Denied}, {"must be root",
		Denied}, {"you need to be root", Denied},
	{"not supported", Absent}, {"no data available", Absent}, {"no stats available", Absent}, {"no such device", Absent},
	{"no such file", Absent},
	{"command not found", Absent}, {": not found", Absent}, {"unknown oid", Absent}, {"does not exist", Absent},
	{"no such program", Absent},
	{"timed out", Absent}, {"timeout", Absent}, {"no channels available", Absent}, {"modules are not loaded", Absent},
}

func atLine(line int, format string, args ...any) error {
	return kerneltext.Errorf(line, format, args...)
}

// errNothing is returned by parsers that find nothing they know.
var errNothing = kerneltext.ErrNothing

func nothingUnless(found bool) error { return kerneltext.NothingUnless(found) }

// reader is one source of facts: what to ask and what to make of the answer.
type reader struct {
	part  string
	op    host.Op
	parse func(f *Facts, t text) error
}

// Collect asks a host for everything that the ceilings and the rules need, in
// two round trips, or three with a window. What a host does not answer is
// recorded in Parts; the error is about reaching it or telling what it is.
func Collect(ctx context.Context, c host.Conn, opt Options) (*Facts, error) {
	f := &Facts{Host: c.Name(), Settings: map[string]Setting{}, Counters: map[string]Counter{},
		Parts: map[string]Part{}, texts: map[string][]string{}, commands: opt.round.Commands, before: opt.before,
		used: map[string]map[int]bool{}, pasted: opt.everything}
	if err := f.ask(ctx, c, f.readers(atFirst)); err != nil {
		return nil, err
	}
	if f.System == "" {
		return nil, fmt.Errorf("%s: %w", c.Name(), identityProblem(f.Parts["identity"]))
	}
	if err := f.ask(ctx, c, f.systemReaders(opt)); err != nil {
		return nil, err
	}
	if opt.Window > 0 {
		if err := f.sample(ctx, c, opt.Window); err != nil {
			return nil, err
		}
	}
	f.finish()
	f.checkNames()
	return f, nil
}

func identityProblem(p Part) error {
	if p.State == Unparsed {
		return fmt.Errorf("%w: %s", ErrSystem, p.Because)
	}
	return fmt.Errorf("%w: %s", ErrNoIdentity, p.Because)
}

// readers are those of the collectors of the system, of any system before it is known.
func (f *Facts) readers(of ...when) []reader {
	var list []reader
	for _, c := range collectors() {
		if slices.Contains(of, c.when) && (f.System == "" || slices.Contains(c.on, f.System)) {
			list = append(list, reader{c.part, c.op, c.parse})
		}
	}
	return list
}

// systemReaders are what is asked once the system is known. What another system was asked at first is forgotten.
func (f *Facts) systemReaders(opt Options) []reader {
	for _, c := range firstCollectors() {
		if !slices.Contains(c.on, f.System) {
			delete(f.Parts, c.part)
		}
	}
	of := []when{always}
	if opt.Thorough {
		of = append(of, thorough)
	}
	if opt.everything {
		of = append(of, recorded)
	}
	_, freebsd := f.Settings["vfs.zfs.version.spa"]
	if f.ZFS != nil || freebsd || opt.everything {
		of = append(of, withZFS)
	}
	readers := f.readers(of...)
	switch f.System {
	case system.FreeBSD:
		f.bsdMachine("hw.ncpu")
		f.cpTimes()
		f.deviceCounters()
		f.arcSettings()
	case system.OpenBSD:
		f.bsdMachine("hw.ncpuonline")
	case system.Linux: // ethtool is asked of the interfaces that ip showed; the interrupts' places follow
		at := slices.IndexFunc(readers, func(r reader) bool { return r.part == "affinity" })
		return slices.Insert(readers, at, f.linkReaders(opt)...)
	}
	return readers
}

// linkReaders ask ethtool; of optics only for a capture, since their memory is read slowly, under the kernel's lock of all
// interfaces.
func (f *Facts) linkReaders(opt Options) []reader {
	var readers []reader
	whole, brief := f.askedNICs()
	for _, nic := range whole {
		asked := ethtoolReaders(nic)
		if !opt.Thorough && !opt.everything {
			asked = slices.DeleteFunc(asked, func(r reader) bool { return r.part == "optic "+nic })
		}
		if !opt.everything { // which cores work says as much of a live host
			asked = slices.DeleteFunc(asked, func(r reader) bool { return r.part == "indirection "+nic })
		}
		readers = append(readers, asked...)
	}
	for _, nic := range brief {
		readers = append(readers, ethtoolReaders(nic)[:2]...) // link and driver
	}
	return readers
}

func (f *Facts) ask(ctx context.Context, c host.Conn, readers []reader) error {
	ops := make([]host.Op, len(readers))
	for i, r := range readers {
		ops[i] = r.op
	}
	answers, err := c.Do(ctx, ops...)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	for i, a := range answers {
		f.take(readers[i], a)
	}
	f.checkNames()
	return nil
}

// take parses one answer and notes how that ended. What a failed command
// printed all the same is used: sysctl -a fails for one key that is denied.
func (f *Facts) take(r reader, a host.Answer) {
	t := text{from: readerName(a.Op), data: a.Out}
	t.typed = cmp.Or(f.commands[t.from], f.commands[OutputOfCommand(t.from)])
	part := Part{From: t.from, State: Read}
	if len(t.data) > TextLimit {
		t.data = t.data[:bytes.LastIndexByte(t.data[:TextLimit], '\n')+1]
		part.Because = fmt.Sprintf("only the first %d MiB were read", TextLimit>>20)
	}
	if a.Failure == host.TimedOut { // the last line may be half of one
		t.data = t.data[:bytes.LastIndexByte(t.data, '\n')+1]
		part.Because = "only the output received in time was read: " + answerProblem(a)
	}
	switch {
	case len(bytes.TrimSpace(t.data)) == 0 && a.Failure != host.None:
		part.State, part.Because = stateOf(a.Failure), answerProblem(a)
	case len(bytes.TrimSpace(a.Out)) == 0 && mayBeEmpty[r.part]:
	case len(bytes.TrimSpace(a.Out)) == 0:
		part.State, part.Because = Absent, "it is empty"
		if why := strings.TrimSpace(a.Stderr); why != "" {
			part.Because = shorten(why)
		}
		if r.op.Action == host.ActList {
			part.Because = "nothing matches"
		}
	default:
		f.texts[t.from] = t.lines()
		if err := r.parse(f, t); err != nil {
			part.State, part.Line, part.Because = failed(t, err)
			var damaged *kerneltext.Error
			if f.pasted && errors.As(err, &damaged) && len(f.used[t.from]) > 0 { // cut off, or copied with a gap
				part.State, part.Because = Read, "not read to the end: "+part.Because
			}
		} else if len(f.used[t.from]) == 0 { // what it says needs no line for evidence
			for i := range f.texts[t.from] {
				f.use(t.from, i+1)
			}
		}
	}
	f.Parts[r.part] = part
}

// failed says how the reading of a text ended that a parser gave up.
func failed(t text, err error) (state State, line int, because string) {
	var no *refusal
	if errors.As(err, &no) {
		return no.state, no.line, no.why
	}
	if no = refused(t); no != nil {
		return no.state, no.line, no.why
	}
	var p *kerneltext.Error
	if errors.As(err, &p) {
		return Unparsed, p.Line, fmt.Sprintf("line %d: %s", p.Line, p.Why)
	}
	return Unparsed, 0, err.Error()
}

// Bounds of what one host can have; damaged or invented input has more.
const (
	linkLimit    = 4096
	settingLimit = 1 << 16
	rowLimit     = 1 << 16 // routes, neighbours, interrupts, pools
)

// TextLimit bounds what is read of one source, in bytes.
const TextLimit = 16 << 20

// mayBeEmpty are the parts that have nothing to say on a healthy host.
var mayBeEmpty = map[string]bool{"neighbours": true, "messages": true, "addresses": true, "transmit steering": true}

func answerProblem(a host.Answer) string {
	s := strings.TrimPrefix(a.Err().Error(), a.Op.String()+": ")
	return shorten(s)
}

func stateOf(failure host.Failure) State {
	if failure == host.Denied {
		return Denied
	}
	return Absent
}

// readIdentity reads uname -a: system, node, release, ..., machine last (FreeBSD
// prints the machine last, GNU adds the operating system after it).
func (f *Facts) readIdentity(t text) error {
	words := strings.Fields(string(t.data))
	if len(words) < 3 {
		return errNothing
	}
	known := system.Named(words[0])
	if known == "" {
		return atLine(1, "%q is not a supported system", shorten(words[0]))
	}
	f.System, f.Node, f.Release = known, words[1], words[2]
	f.Named(string(t.data), f.Line(t.from, 1))
	for _, w := range words[3:] {
		switch w {
		case "x86_64", "amd64", "aarch64", "arm64", "i386", "i686", "riscv64", "ppc64le", "s390x", "armv7l", "powerpc64":
			f.Machine = w
		}
	}
	return nil
}

func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 64)
	return n, err == nil
}

func decimal(n int) string { return strconv.Itoa(n) }

func count(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}
