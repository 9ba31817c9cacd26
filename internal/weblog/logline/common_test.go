package logline

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestCommonAgrees compares the short way through lines that begin as the common
// log format's do with the general one, on lines with bytes changed at random.
func TestCommonAgrees(t *testing.T) {
	for _, c := range []struct{ format, end string }{
		{`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time`, ` "-" "curl/8 (x)" 0.012`},
		{`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent rt=$request_time "$http_referer" "$http_user_agent"`, ` rt=0.012 "-" "curl/8 (x)"`},
		{`%h %l %u %t "%r" %>s %b %D`, ` 12000`},
	} {
		format := c.format
		f, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		short, general := f.Decoder(), f.Decoder()
		if short.common == nil {
			t.Fatalf("%s does not begin as the common log format does", format)
		}
		taken := 0
		for range 20_000 {
			line := append(make([]byte, 0, 512), `192.0.2.`+strconv.Itoa(rand.IntN(256))+` - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" `+
				strconv.Itoa(rand.IntN(1000))+` `+strconv.Itoa(rand.IntN(1_000_000_000)>>rand.IntN(30))+c.end...)
			for range rand.IntN(4) {
				line[rand.IntN(len(line))] = ` "\]-[,:/0`[rand.IntN(10)]
			}
			line = line[:len(line)-rand.IntN(len(line))*rand.IntN(2)]
			if !short.common.common(line, &short.Req, &short.spans) {
				continue
			}
			taken++
			if !general.Format.ex.extract(line, &general.spans) || !general.answer(line) {
				t.Fatalf("%q does not fit %s when it is looked at closely", line, format)
			}
			short.spans[RoleNone], general.spans[RoleNone] = span{}, span{}
			general.spans[RoleBytes] = short.spans[RoleBytes]
			if short.spans != general.spans || short.Req.Status != general.Req.Status || short.Req.Size != general.Req.Size {
				t.Fatalf("%q in %s: %v with status %d and size %d, want %v, %d and %d", line, format,
					short.spans, short.Req.Status, short.Req.Size, general.spans, general.Req.Status, general.Req.Size)
			}
		}
		if taken < 2000 {
			t.Errorf("only %d of 20000 lines took the short way through %s", taken, format)
		}
	}
}
