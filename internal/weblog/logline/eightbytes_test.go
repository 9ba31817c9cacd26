package logline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersOfEightBytes(t *testing.T) {
	for _, c := range []struct {
		text              string
		number, thousands int64 // -1: not read
	}{
		{"0", 0, -1}, {"7", 7, -1}, {"99999999", 99999999, -1}, {"00000012", 12, -1}, {"123456789", -1, -1}, {"", -1, -1}, {"-", -1, -1},
		{"12a", -1, -1}, {"1/2", -1, -1}, {"1:2", -1, -1}, {"\xb9", -1, -1}, {"1\x802", -1, -1},
		{"0.004", -1, 4}, {"9999.999", -1, 9999999}, {"12.345", -1, 12345}, {".345", -1, -1}, {"12.34", -1, -1}, {"-1.000", -1, -1},
		{"1.2.345", -1, -1}, {"1.34\xb5", -1, -1}, {"a.345", -1, -1}, {"10000.000", -1, -1},
	} {
		line := []byte("1234567 " + c.text)
		s := span{8, int32(len(line))}
		if n, ok := smallNumber(line, s); ok != (c.number >= 0) || ok && int64(n) != c.number {
			t.Errorf("smallNumber(%q) = %d, %v; want %d", c.text, n, ok, c.number)
		}
		if n, ok := thousandths(line, s); ok != (c.thousands >= 0) || ok && int64(n) != c.thousands {
			t.Errorf("thousandths(%q) = %d, %v; want %d", c.text, n, ok, c.thousands)
		}
	}
	for range 10_000 {
		want := rand.Uint64N(100_000_000) >> rand.IntN(27)
		text := strconv.FormatUint(want, 10)
		line := []byte("x1234567" + text)
		if n, ok := smallNumber(line, span{8, int32(len(line))}); !ok || n != want {
			t.Fatalf("smallNumber(%s) = %d, %v", text, n, ok)
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
			general.head[i].scan, general.head[i].skips = scanAny, 0
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
