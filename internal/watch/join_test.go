package watch

import (
	"testing"
	"time"
)

func TestBothEnds(t *testing.T) {
	now := time.Now()
	of := func(host, local, peer, limit string, sent, received float64, unread uint32) State {
		return State{Host: host, Time: now, Verdict: Verdict{Limit: limit, Flows: 1, Peer: "2001:db8::7"},
			Flows: []Flow{{Local: local, Peer: peer, Limit: limit, Sent: sent, Received: received, Unread: unread}}}
	}
	a, b := "[2001:db8::1]:22", "[2001:db8::7]:4000"
	for _, test := range []struct {
		limit, receiver, want string
		unread                uint32
	}{
		{"send-buffer", "", "a", 0}, {"program", "", "a", 0}, {"peer-window", "", "b", 0}, {"slow-reader", "slow-reader", "b", 90000},
		{"path-rate", "", "path", 0}, {"policer", "", "path", 0}, {"unknown", "", "", 0},
	} {
		j := NewJoiner()
		receiver := of("b", b, a, test.receiver, 0, 1e6, test.unread)
		j.Join(&receiver)
		sender := of("a", a, b, test.limit, 1e6, 0, 0)
		j.Join(&sender)
		if f := sender.Flows[0]; f.Other == nil || f.Other.Host != "b" || f.End != test.want || sender.Verdict.End != test.want {
			t.Errorf("%s: %q, %+v", test.limit, f.End, f.Other)
		}
		again := of("b", b, a, test.receiver, 0, 1e6, test.unread)
		if j.Join(&again); again.Flows[0].End != test.want {
			t.Errorf("%s: the receiver says %q", test.limit, again.Flows[0].End)
		}
	}
	j := NewJoiner()
	old := of("b", b, a, "", 0, 1e6, 0)
	old.Time = now.Add(-time.Minute)
	j.Join(&old)
	s := of("a", a, b, "program", 1e6, 0, 0)
	if j.Join(&s); s.Flows[0].Other != nil {
		t.Error("what the other end said a minute ago counts")
	}
}
