package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/packets"
)

// The page bears one script, which its policy names, and nothing that a file's
// name could add.
func TestPacketsHTML(t *testing.T) {
	l := packets.Life{Protocol: "tcp", From: "192.0.2.1:40000", To: "192.0.2.2:80", Duration: 2, Bytes: 1 << 20,
		Limit: flow.Path, Verdict: "limited by <b>the path</b>", Vantage: "sender",
		Limits: []packets.Held{{Limit: flow.Path, Share: 1, Time: 2}},
		Spans:  []packets.Stretch{{Limit: flow.Path, Start: 0, End: 2}}}
	for i := range 300 {
		l.Points = append(l.Points, flow.Point{Start: time.Duration(i) * 10 * time.Millisecond, Next: int64(i) * 1000})
	}
	var b bytes.Buffer
	a := packets.Analysis{Capture: "</script><img src=x>.pcap", Packets: 10, Flows: []packets.Life{l},
		Verdict: "192.0.2.1:40000 > 192.0.2.2:80: limited by <b>the path</b>",
		Both:    &packets.Both{Sender: "one<i>.pcap", Receiver: "other.pcap", Between: 3, Matched: 9}}
	if err := PacketsHTML(&b, a); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"script-src &#39;sha256-", `"names":["path-rate"]`, "limited by &lt;b&gt;", "&lt;/script&gt;&lt;img",
		"<h1>Limited by &lt;b&gt;", "one&lt;i&gt;.pcap is nearer the sender", "3 segments lost between the captures"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, the course and the code are expected", n)
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "ZgotmplZ") {
		t.Error("what the file's name brings along is in the page")
	}
	if len(page) > 200_000 {
		t.Errorf("%d bytes", len(page))
	}
}
