package weblog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// visit is a request as it is made up: what a log says of it, told by nobody else.
type visit struct {
	client, method, path, proto string
	status                      int
	size                        int64 // -1: "-"
	ms                          uint64
	upstream                    float64 // share of ms; below 0: none
	cache                       string
	at                          time.Time
}

const visitFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time`

// line writes the visit in visitFormat, with cache and upstream time behind it if
// it has them.
func (v *visit) line() string {
	request := v.method + " " + v.path + " " + v.proto
	if v.method == "" {
		request = v.path
	}
	size := "-"
	if v.size >= 0 {
		size = fmt.Sprint(v.size)
	}
	text := fmt.Sprintf(`%s - - [%s] "%s" %03d %s "https://example.org/?a=1" "curl/8 \"x\" (y)" %d.%03d`,
		v.client, v.at.Format("02/Jan/2006:15:04:05 -0700"), request, v.status, size, v.ms/1000, v.ms%1000)
	if v.cache == "" {
		return text
	}
	up := "-"
	if v.upstream >= 0 {
		up = fmt.Sprintf("%d.%03d", v.behind()/1000, v.behind()%1000)
	}
	return text + " " + up + " " + v.cache
}

func (v *visit) behind() uint64 { return uint64(float64(v.ms) * v.upstream) }

// makeVisit draws a request; nets is how many networks clients come from.
func makeVisit(r *rand.Rand, at time.Time, nets int, rare bool) visit {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	v := visit{status: []int{200, 200, 200, 304, 301, 404, 400, 499, 0, 503}[r.IntN(10)], size: r.Int64N(1 << []int{0, 9, 16}[r.IntN(3)]),
		method: "GET", proto: "HTTP/1.1", ms: uint64(math.Exp(r.NormFloat64()*2 + 4)), upstream: -1, at: at}
	net := r.IntN(nets)
	v.client = fmt.Sprintf("%d.%d.%d.%d", 10+net>>14, net>>6&255, net&63, r.IntN(256))
	if r.IntN(3) == 0 {
		v.method, v.proto = pick("GET", "POST", "HEAD", "PROPFIND", "BREW"), pick("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/3.0", "HTTP/0.9", "HTTP/9.9")
	}
	v.path = pick("/", "/index.html", "/a/%d", "/images/photo_%d.jpg", "/v1/x/%d", "/v2/x/%d?id=%d", "/d%d/f", "/download/file-%d.tar.gz",
		"/search?q=term%d", "/really/long/path/of/many/segments/with/no/end/of/it/%d", "/40-bytes-and-more-of-a-path-without-slash/%d?%d", "*", "http://proxied.example/%d/x%d", "/with blank")
	for strings.Contains(v.path, "%d") {
		v.path = strings.Replace(v.path, "%d", pick("5", "42", fmt.Sprint(100+r.IntN(1<<r.IntN(20)))), 1)
	}
	switch r.IntN(20) {
	case 0:
		v.client = pick("2001:db8::1", "2001:db8:1::7", "localhost", "::ffff:10.0.0.1", "10.0.0.256", "1.2.3", "unix:")
	case 1:
		v.method, v.path, v.proto = "", pick("-", `\x16\x03\x01`, "GET"), ""
	case 2:
		v.size = -1
	case 3:
		v.size, v.ms = 0, 0
		if r.IntN(20) == 0 {
			v.size = 40 << 20
		}
	case 4:
		v.ms = r.Uint64N(90_000_000)
	}
	if rare {
		v.cache = pick("HIT", "MISS", "EXPIRED")
		if v.cache != "HIT" {
			v.upstream = r.Float64()
		}
	}
	return v
}

// groupsOf returns the groups that a visit falls into, as "grouping name". level
// is how far clients are joined.
func (v *visit) groupsOf(level int) []string {
	method, proto := v.method, v.proto
	switch {
	case method == "":
		method = "(none)"
	case !slices.Contains(methods[:methodOther], method):
		method = "(other)"
	}
	switch proto {
	case "HTTP/2.0", "HTTP/3.0":
		proto = strings.TrimSuffix(proto, ".0")
	case "HTTP/9.9":
		proto = "(other)"
	case "":
		proto = "(none)"
	}
	path := string(appendPattern(nil, []byte(v.path), 4))
	if slices.Contains([]int{400, 404, 405, 410, 414}, v.status) {
		path = noise
	}
	size := 0
	if v.size >= 0 {
		size = 1
	}
	for edge := int64(1); edge <= v.size && size < len(sizeNames)-1; size++ {
		edge = max(edge*4, 1024)
	}
	out := []string{fmt.Sprintf("status %03d", v.status), "method " + method, "protocol " + proto, "path " + logline.Escape(path, 200),
		"size " + sizeNames[size], "client " + clientNet(v.client, level)}
	if v.cache != "" {
		out = append(out, "cache "+v.cache)
	}
	if v.upstream >= 0 {
		share := 1.0
		if v.ms > v.behind() {
			share = float64(v.behind()) / float64(v.ms)
		}
		class, _ := slices.BinarySearch([]float64{0.1, 0.5, 0.9}, math.Nextafter(share, 2))
		out = append(out, "upstream "+behindNames[class])
	}
	return out
}

func clientNet(client string, level int) string {
	a, err := netip.ParseAddr(client)
	if err != nil {
		return "(not an address)"
	}
	a = a.Unmap()
	bits := clientBits[level][0]
	if a.Is6() {
		bits = clientBits[level][1]
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return err.Error()
	}
	return p.String()
}

// TestFullAnalysisAgainstReference compares every group of random logs with one
// that keeps all values, summed up without any of the short ways.
func TestFullAnalysisAgainstReference(t *testing.T) {
	for _, c := range []struct {
		nets, level int
		rare        bool
	}{{40, 0, false}, {40, 0, true}, {9000, 1, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.nets), 7))
			at := time.Date(2024, 2, 28, 23, 59, 0, 0, time.UTC)
			times, sizes := map[string][]uint64{}, map[string]uint64{}
			seconds := map[int64]uint64{}
			var text strings.Builder
			zones := [2]*time.Location{time.UTC, time.FixedZone("", 5400)}
			var backward, skipped uint64
			last := time.Time{}
			for i := range 10_000 {
				if r.IntN(10) == 0 {
					at = at.Add(time.Duration(r.IntN(4)-1) * time.Second)
				}
				if i%997 == 3 {
					text.WriteString("half a line\n")
					skipped++
				}
				v := makeVisit(r, at.In(zones[i/5000%2]), c.nets, c.rare)
				text.WriteString(v.line() + "\n")
				if v.at.Before(last) {
					backward++
				}
				last = v.at
				seconds[v.at.Unix()]++
				for _, g := range append(v.groupsOf(c.level), "all") {
					times[g] = append(times[g], v.ms*1000)
					sizes[g] += uint64(max(v.size, 0))
				}
			}
			format := visitFormat
			if c.rare {
				format += " $upstream_response_time $upstream_cache_status"
			}
			f, err := logline.ParseFormat(format)
			if err != nil {
				t.Fatal(err)
			}
			for workers := 1; workers <= 3; workers++ {
				s := readText(t, text.String(), Options{Full: true, Workers: workers, Format: f})
				if s.Skipped() != skipped || s.Requests != 10_000 {
					t.Fatalf("%d requests, %d skipped: %+v", s.Requests, s.Skipped(), s.examples)
				}
				compareGroups(t, s, times, sizes)
				d := s.detail
				if d.times != 10_000 || len(d.zones) != 2 || d.zones[0].n != 5000 || d.backward != backward {
					t.Errorf("%d stamps, zones %v, %d backward; want 10000 and %d", d.times, d.zones, d.backward, backward)
				}
				for unix, n := range seconds {
					if b := d.timeline.groups[unix]; b == nil || b.n != n {
						t.Fatalf("second %d: %+v, want %d", unix, b, n)
					}
				}
			}
		})
	}
}

func compareGroups(t *testing.T, s *Sketch, times map[string][]uint64, sizes map[string]uint64) {
	t.Helper()
	seen := 1
	for _, by := range Groupings() {
		for _, g := range groupsBy(s, by, View{Top: 5000, Under: []float64{0.1}}) {
			seen++
			want := slices.Clone(times[by+" "+g.Name])
			slices.Sort(want)
			n, sum, under := uint64(len(want)), uint64(0), 0
			for _, us := range want {
				sum += us
				if us < 100_000 {
					under++
				}
			}
			if n == 0 || g.Requests != n || g.Bytes != sizes[by+" "+g.Name] || g.Max != inSeconds(float64(want[n-1])) ||
				math.Abs(g.Mean*float64(n)*1e6-float64(sum)) > 1e-6*float64(sum) || g.Under["0.1"] != float64(under)/float64(n) {
				t.Fatalf("%s %s: %+v, want %d requests with %d bytes, %d us in all, %d below 100 ms", by, g.Name, g, n, sizes[by+" "+g.Name], sum, under)
			}
			for _, p := range percentiles {
				exact := float64(want[latency.RankOf(p/100, n)-1]) / 1e6
				if got := g.Percentiles[percentName(p)]; math.Abs(got-exact) > 0.01*exact {
					t.Fatalf("%s %s: p%g is %g, want %g within 1%%", by, g.Name, p, got, exact)
				}
			}
		}
	}
	if seen != len(times) {
		t.Errorf("%d groups, want %d", seen, len(times))
	}
}
