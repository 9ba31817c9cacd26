package logline

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
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
			line := randomLine(c.end)
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

// randomLine returns a line that begins as the common log format's do and ends in end,
// with bytes changed at random, and often cut short.
func randomLine(end string) []byte {
	target := []string{"/a", "/a b", "/é?x=%20", `/\"q`, "/" + strings.Repeat("x", rand.IntN(40))}[rand.IntN(5)]
	line := append(make([]byte, 0, 512), `192.0.2.`+strconv.Itoa(rand.IntN(256))+` - - [01/Mar/2024:00:00:0`+strconv.Itoa(rand.IntN(3))+
		` +0000] "GET `+target+` HTTP/1.1" `+strconv.Itoa(rand.IntN(1000))+` `+strconv.Itoa(rand.IntN(1_000_000_000)>>rand.IntN(30))+end...)
	for range rand.IntN(4) {
		line[rand.IntN(len(line))] = " \"\\]-[,:/0.\r"[rand.IntN(12)]
	}
	return line[:len(line)-rand.IntN(len(line))*rand.IntN(2)]
}

// TestShortAgrees compares what the short way says of lines that are the common log
// format's, something, and a request time, with what the general one says of them.
func TestShortAgrees(t *testing.T) {
	for _, format := range []string{
		`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time`,
		`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" rt=$request_time`,
		`$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer"  "$request_time`,
	} {
		f, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		before := format[strings.Index(format, `r"`)+2 : strings.LastIndex(format, "$")]
		if i := strings.LastIndex(before, `" `); i > 0 {
			before = ` "curl/8` + before[i:]
		}
		for _, brief := range []bool{false, true} {
			short, general := f.Decoder(), f.Decoder()
			if short.short == nil {
				t.Fatalf("%s has no short way", format)
			}
			short.Brief, general.Brief, general.short, general.common = brief, brief, nil, nil
			taken := 0
			for range 20_000 {
				line := randomLine(` "-"` + before + []string{"0.012", "12.345", "999.999", "1000.000", "12", "-1.000", "0.0001", "-", ""}[rand.IntN(9)])
				if short.readShort(line) {
					taken++
				}
				got, fault := short.Line(line)
				want, wantFault := general.Line(line)
				if fault != wantFault || !reflect.DeepEqual(got, want) {
					t.Fatalf("%q in %s: %+v, %v; want %+v, %v", line, format, got, fault, want, wantFault)
				}
			}
			if taken < 1000 {
				t.Errorf("only %d of 20000 lines took the short way through %s", taken, format)
			}
		}
	}
}
