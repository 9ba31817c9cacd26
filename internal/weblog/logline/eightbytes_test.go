package logline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersOfEightBytes(t *testing.T) {
	for _, text := range []string{"12a", "1/2", "1:2", "\xb9", "1\x802", "-1"} {
		if n, ok := digits8(word([]byte("1234567 "+text), len(text)), len(text)); ok {
			t.Errorf("digits8(%q) = %d", text, n)
		}
	}
	for range 10_000 {
		want := rand.Uint64N(100_000_000) >> rand.IntN(27)
		text := strconv.FormatUint(want, 10)
		if n, ok := digits8(word([]byte("x1234567"+text), len(text)), len(text)); !ok || n != want {
			t.Fatalf("digits8(%s) = %d, %v", text, n, ok)
		}
	}
}

func TestFindInEightBytes(t *testing.T) {
	const alphabet = " !\x00\x01\x80\xa0\x1f\xff"
	for range 100_000 {
		text := make([]byte, 8)
		for i := range text {
			text[i] = alphabet[rand.IntN(len(alphabet))]
		}
		c := alphabet[rand.IntN(len(alphabet))]
		before, after := bytes.IndexByte(text, c), 7-bytes.LastIndexByte(text, c)
		if before < 0 {
			before = 8
		}
		if got := first(word(text, 0), uint64(c)*lowBits); got != before {
			t.Fatalf("first %q in %q: %d, want %d", c, text, got, before)
		}
		if got := last(word(text, 0), uint64(c)*lowBits); got != after {
			t.Fatalf("last %q in %q: %d, want %d", c, text, got, after)
		}
	}
}

// TestScansAgree compares where fields are looked for first with the general
// search, on lines of several formats with bytes changed at random.
func TestScansAgree(t *testing.T) {
	for _, format := range []string{
		`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time`,
		`$remote_addr [$time_local] $status $body_bytes_sent "$request" rt=$request_time ut=$upstream_response_time cs=$upstream_cache_status`,
		`%h %l %u %t "%r" %>s %b %D`,
		`haproxy:%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B`,
	} {
		f, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		plain := f.ex.(*linePlan)
		general := *plain
		general.head = append([]field(nil), plain.head...)
		for i := range general.head {
			general.head[i].near = false
		}
		for range 20_000 {
			line := []byte(`192.0.2.` + strconv.Itoa(rand.IntN(256)) + ` - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 ` +
				strconv.Itoa(rand.IntN(1_000_000)) + ` "-" "curl/8 (x)" 0.0` + strconv.Itoa(rand.IntN(100)))
			if format[0] == 'h' {
				line = []byte(`192.0.2.1:4711 [01/Mar/2024:00:00:00.123] in~ back/s1 0/0/1/` + strconv.Itoa(rand.IntN(1000)) + `/30 200 5012`)
			}
			for range rand.IntN(4) {
				line[rand.IntN(len(line))] = ` "\]-[,:/0`[rand.IntN(10)]
			}
			if rand.IntN(4) == 0 {
				line = line[:rand.IntN(len(line)+1)]
			}
			var a, b spans
			a.clear()
			b.clear()
			okA, okB := plain.extract(line, &a), general.extract(line, &b)
			a[RoleNone], b[RoleNone] = span{}, span{} // nobody reads it
			if okA != okB || okA && a != b {
				t.Fatalf("%s\n%q:\n%v %s\n%v %s", format, line, okA, spell(line, a), okB, spell(line, b))
			}
		}
	}
}

func spell(line []byte, s spans) string {
	var b strings.Builder
	for r, v := range s {
		if v.hi >= 0 {
			fmt.Fprintf(&b, "%d=%q ", r, v.of(line))
		}
	}
	return b.String()
}

// TestSplitRequest is about requests that only look like the common ones.
func TestSplitRequest(t *testing.T) {
	for _, c := range [][4]string{
		{"GET /index.html HTTP/1.1", "GET", "/index.html", "HTTP/1.1"},
		{"GET /a b c d e f HTTP/1.1", "GET", "/a b c d e f", "HTTP/1.1"},
		{"GET /index.html HTTP/2", "GET", "/index.html", "HTTP/2"},
		{"PROPPATCH /index.html HTTP/1.1", "PROPPATCH", "/index.html", "HTTP/1.1"},
		{"GET            HTTP/1.1", "GET", "          ", "HTTP/1.1"},
		{"AAAAAAAAAAAA HTTP/1.1", "AAAAAAAAAAAA", "HTTP/1.1", ""},
		{"GET /index.html HTTP/ .1", "GET", "/index.html HTTP/", ".1"},
		{"", "", "", ""},
	} {
		m, p, v := splitRequest([]byte(c[0]))
		if c[3] == ".1" { // no version: whatever stands there belongs to the path
			c[2], c[3] = "/index.html HTTP/ .1", ""
		}
		if string(m) != c[1] || string(p) != c[2] || string(v) != c[3] {
			t.Errorf("%q: %q, %q, %q", c[0], m, p, v)
		}
	}
}

// plainIPv4 is ParseIPv4 byte by byte.
func plainIPv4(b []byte) (ip uint32, ok bool) {
	text, _, _ := strings.Cut(string(b), ":")
	parts := strings.Split(text, ".")
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 3 || p[0] == '+' {
			return 0, false
		}
		ip = ip<<8 | uint32(v)
	}
	return ip, len(parts) == 4
}

// TestIPv4Agree compares ParseIPv4 with the plain way, in buffers that end behind the
// address and in ones that go on as addresses do.
func TestIPv4Agree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	good := 0
	for range 500_000 {
		text := fmt.Appendf(nil, "%d.%d.%d.%d", r.IntN(300), r.IntN(256), r.IntN(256), r.IntN(256))
		if r.IntN(4) == 0 {
			text = fmt.Appendf(text, ":%d", r.IntN(70000))
		}
		for range r.IntN(3) {
			text[r.IntN(len(text))] = "0123456789.:/ \x00\xff\xb0"[r.IntN(17)]
		}
		text = text[:r.IntN(len(text)+1)]
		want, wantOK := plainIPv4(text)
		if wantOK {
			good++
		} else {
			want = 0
		}
		buffer := append(append(make([]byte, 0, 64), text...), ".1.23.45:67.8.9.10.11.12"...)
		for _, b := range [][]byte{slices.Clip(text), buffer[:len(text)]} {
			if got, ok := ParseIPv4(b); got != want || ok != wantOK {
				t.Fatalf("%q: %x %v, want %x %v", b, got, ok, want, wantOK)
			}
		}
	}
	if good < 10_000 {
		t.Fatalf("only %d were addresses", good)
	}
}
