package watch

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/system"
)

// scripted is a host that answers commands from a table; what is not in it does
// not exist.
type scripted struct {
	host.Conn
	answers map[string]string
	asked   int
	gone    bool
}

func (s *scripted) Name() string { return "ssh://bsd" }

func (s *scripted) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	s.asked++
	if s.gone {
		return nil, errors.New("connection lost")
	}
	all := make([]host.Answer, len(ops))
	for i, op := range ops {
		text, ok := s.answers[op.String()]
		all[i] = host.Answer{Op: op, Out: []byte(text)}
		if !ok {
			all[i] = host.Answer{Op: op, Failure: host.Absent, Stderr: "not found"}
		}
	}
	return all, nil
}

const (
	freebsdFlows = "Active Internet connections\n" +
		"Proto Recv-Q Send-Q Local Address          Foreign Address        R-MBUF S-MBUF R-CLUS S-CLUS R-HIWA S-HIWA R-LOWA " +
		"S-LOWA R-BCNT S-BCNT R-BMAX S-BMAX   rexmt persist    keep    2msl  delack rcvtime\n"
	freebsdInterfaces = "Name    Mtu Network       Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll  Drop\n"
)

// states are what a watcher says of a BSD whose answers change by a function.
func states(t *testing.T, s system.System, n int, change func(i int, answers map[string]string)) (st State, host *scripted) {
	t.Helper()
	begin := time.Now()
	host = &scripted{answers: map[string]string{}}
	r, w := NewBSDReader(host, s), NewWatcher()
	for i := range n {
		change(i, host.answers)
		sample, err := r.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sample.Time = begin.Add(time.Duration(i) * 10 * time.Second)
		st = w.Add(sample)
	}
	return st, host
}

func TestFreeBSDFlows(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"tcp4  0 30000 192.0.2.1.22 198.51.100.5.61000 0 40 0 20 65700 33304 1 2048 0 90000 525600 266432 0.22 4.50 7199.99 0.00 0.00 0.01",
			"the peer's program reads slowly: 1 flow with 198.51.100.5"},
		{"tcp6 60000 0 2001:db8::1.80 2001:db8::5.61000 0 0 0 0 65700 33304 1 2048 0 0 525600 266432 0.00 0.00 7199.99 0.00 0.00 0.01",
			"a program on this host reads slowly: 1 flow with 2001:db8::5"},
		{"tcp4  0 33304 192.0.2.1.22 198.51.100.5.61000 0 40 0 20 65700 33304 1 2048 0 90000 525600 266432 0.22 0.00 7199.99 0.00 0.00 0.01",
			"no limit seen"}, // the buffer is full, and nothing tells why
		{"tcp4  0 0 192.0.2.1.22 198.51.100.5.61000 0 0 0 0 65700 33304 1 2048 0 0 525600 266432 0.00 0.00 7199.99 0.00 0.00 0.01",
			"no limit seen"},
	} {
		st, host := states(t, system.FreeBSD, 4, func(_ int, a map[string]string) { a["netstat -xn -p tcp"] = freebsdFlows + test.line + "\n" })
		if got := st.Verdict.Cause(); got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
		if host.asked != 4 || st.Missing["RTT"] == "" || st.Connections != 1 {
			t.Errorf("%d batches for 4 looks; missing %v; %d connections", host.asked, st.Missing, st.Connections)
		}
	}
}

func TestFreeBSDCounters(t *testing.T) {
	st, _ := states(t, system.FreeBSD, 4, func(i int, a map[string]string) {
		a["netstat -ibdnW"] = freebsdInterfaces + "ix0\x1b[2J 1500 <Link#1> 00:00:5e:00:53:20 1000 0 0 5000 2000 0 7000 0 0\n" +
			"ix1  1500 <Link#2>      00:00:5e:00:53:21   1000 0 " + strconv.Itoa(40*i) + " " + strconv.Itoa(125_000_000*i) + " 2000 0 " +
			strconv.Itoa(12_500_000*i) + " 0 0\n"
		a["sysctl kern.cp_times"] = "kern.cp_times: " + strconv.Itoa(100*i) + " 0 " + strconv.Itoa(100*i) + " 0 " + strconv.Itoa(800*i) + " 0 0 0 " +
			strconv.Itoa(900*i) + " " + strconv.Itoa(100*i) + "\n"
		a["netstat -Lan"] = "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen Local Address\ntcp4  5/0/4  *.80\n"
		a["netstat -s"] = "tcp:\n\t" + strconv.Itoa(1000*i) + " packets sent\n\t\t" + strconv.Itoa(1000*i) + " data packets (1 bytes)\n\t\t" + strconv.Itoa(10*i) +
			" data packets (1 bytes) retransmitted\n\t0 listen queue overflows\nudp:\n\t0 datagrams received\n\t" + strconv.Itoa(9*i) +
			" dropped due to full socket buffers\n"
	})
	if st.Verdict.Limit != AcceptQueue || st.Verdict.Subject != "port 80" {
		t.Errorf("%+v", st.Verdict)
	}
	if st.Traffic.Received < 0.99e8 || st.Traffic.Received > 1.01e8 || st.Traffic.Sent < 0.99e7 || st.Traffic.Loss < 0.009 || st.Traffic.Loss > 0.011 {
		t.Errorf("%+v", st.Traffic)
	}
	if len(st.Processors) != 2 || st.Processors[1].Interrupt < 0.89 || st.Processors[0].Busy > 0.21 {
		t.Errorf("%+v", st.Processors)
	}
	for _, i := range st.Interfaces {
		if strings.Contains(i.Name, "\x1b") {
			t.Errorf("an interface is called %q", i.Name)
		}
	}
}

func TestOpenBSD(t *testing.T) {
	st, _ := states(t, system.OpenBSD, 4, func(i int, a map[string]string) {
		a["netstat -idn"] = "Name    Mtu   Network     Address              Ipkts Ifail    Opkts Ofail Colls Drop\n" +
			"em0     1500  <Link>      00:00:5e:00:53:21    " + strconv.Itoa(1000*i) + " 0 " + strconv.Itoa(100*i) + " 0 0 " + strconv.Itoa(50*i) + "\n"
		a["netstat -ibn"] = "Name    Mtu   Network     Address              Ibytes     Obytes\n" +
			"em0     1500  <Link>      00:00:5e:00:53:21    " + strconv.Itoa(1_250_000*i) + " 100\n"
		a["netstat -s"] = "tcp:\n\t0 packets sent\nudp:\n\t5 datagrams received\n"
	})
	if st.Verdict.Limit != DeviceQueue || st.Verdict.Subject != "em0" || st.Missing["connections"] == "" {
		t.Errorf("%+v, missing %v", st.Verdict, st.Missing)
	}
	if st.Traffic.Received < 0.99e6 || st.Traffic.Received > 1.01e6 {
		t.Errorf("%+v", st.Traffic)
	}
}

// A host that answers nothing, or nonsense, is said to; one that is gone is.
func TestBSDThatTellsNothing(t *testing.T) {
	st, host := states(t, system.FreeBSD, 2, func(int, map[string]string) {})
	if st.Verdict.Limit != NoLimit || st.Missing["counters"] == "" {
		t.Errorf("%+v, missing %v", st.Verdict, st.Missing)
	}
	host.gone = true
	if _, err := NewBSDReader(host, system.FreeBSD).Read(t.Context()); err == nil {
		t.Error("a host that is gone was read")
	}
	if NewBSDReader(host, system.System("plan9")).glance != nil {
		t.Error("an unknown system is asked")
	}
}
