package facts

import "testing"

func TestReportOf(t *testing.T) {
	for _, c := range []struct {
		line    string
		program string
		failure Failure
	}{
		{"2025/01/09 07:10:31 relayd-agent: WARNING: Send queue is full: events may be lost.", "relayd-agent", Exhausted},
		{"Mar  4 11:02:59 edge1 vpnd[881]: peer 192.0.2.7 did not reply, no response for 30 s", "vpnd", Silent},
		{"11:32:07.120 ERROR  meshd: dial attempt failed: dial tcp4 192.0.2.9:900: i/o timeout", "meshd", Silent},
		{"E0312 09:11:02.118222       1 stream.go:77] write: connection reset by peer", "", Refused},
		{`time="2025-03-01T10:00:00Z" level=warning msg="dropping 12 packets of peer b"`, "", Lost},
		{"[  912.118823] mt7922e 0000:02:00.0: chip reset failed", "kernel", DeviceFails},
		{"Mar  4 11:02:59 edge1 kernel: enp3s0: bad checksum in frame", "kernel", Damaged},
		{"relay_1  | 2025-01-09T07:10:31Z WARN relayd: peer 7 timed out", "relayd", Silent},
		{"ConnectionResetError: [Errno 104] Connection reset by peer", "", Refused},
		{"ssh: connect to host 192.0.2.1 port 22: Connection timed out", "", Silent},
		{"Error handling: when the buffer is full, packets are dropped.", "", NoFailure},
		{"2025-01-09T07:10:31Z INFO  relayd: connection timeout set to 30", "", NoFailure},
		{"2025-01-09 07:10:31 INFO relayd: peer 7 timed out", "", NoFailure},
		{"Mar  4 11:02:59 edge1 sshd[12]: Connection reset by 192.0.2.1 port 2201 [preauth]", "", NoFailure},
		{"Mar  4 11:02:59 edge1 kernel: ata1: SError: { hardreset failed }", "", NoFailure},
		{"2025-01-09 07:10:31 WARN relayd: 0 packets dropped", "", NoFailure},
		{"The buffer is full and packets are lost.", "", NoFailure},
	} {
		r, ok := ReportOf(c.line)
		if r.Failure != c.failure || ok != (c.failure != NoFailure) || ok && r.Program != c.program {
			t.Errorf("%s: %+v, %v", c.line, r, ok)
		}
	}
}
