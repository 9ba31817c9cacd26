// Package accesslog makes up access logs, for benchmarks and tests.
package accesslog

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Synthetic describes an access log to make up: nginx's combined format with
// the request time behind it, about 182 bytes a line. It serves benchmarks and
// tests; the same description gives the same bytes.
type Synthetic struct {
	Lines   int
	Seed    uint64
	Profile string // "before", "after" or "wide"
}

// Profiles of request times. The first two follow the histograms of 10,000
// objects, before and after tuning, in the FreeBSD tuning guide that wirerate's
// comparison began with: 71.42% and 96.69% of the objects under 100 ms.
const (
	ProfileBefore = "before"
	ProfileAfter  = "after"
	ProfileWide   = "wide" // log-normal: every bin from 1 ms to minutes
)

var (
	synthPaths = []string{"/", "/index.html", "/images/photo_%d.jpg", "/css/site.css", "/js/app.%d.js",
		"/blog/%d/comments", "/api/v1/items/%d", "/download/file-%d.tar.gz", "/search?q=term%d&page=2", "/favicon.ico"}
	synthAgents = []string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML) Chrome/126.0.0.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Mobile/15E148",
		"curl/8.5.0",
	}
	synthStatus = []int{200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 301, 404, 404, 499, 206, 502}
)

// WriteTo writes the log.
func (s Synthetic) WriteTo(out io.Writer) (int64, error) {
	draw, err := s.times()
	if err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(s.Seed, 1))
	w := bufio.NewWriterSize(out, 1<<20)
	at := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	var total int64
	var line []byte
	for i := range s.Lines {
		if i%200 == 199 {
			at = at.Add(time.Second)
		}
		path := synthPaths[r.IntN(len(synthPaths))]
		line = fmt.Appendf(line[:0], "%d.%d.%d.%d - - [", 1+r.IntN(223), r.IntN(64), r.IntN(256), r.IntN(256))
		line = at.AppendFormat(line, "02/Jan/2006:15:04:05 -0700")
		line = append(line, `] "GET `...)
		for j := 0; j < len(path); j++ {
			if path[j] == '%' {
				line = strconv.AppendInt(line, int64(r.IntN(100000)), 10)
				j++
				continue
			}
			line = append(line, path[j])
		}
		us := draw(r, i)
		line = fmt.Appendf(line, ` HTTP/1.1" %d %d "https://www.example.org/section/" "%s" %d.%03d`+"\n",
			synthStatus[r.IntN(len(synthStatus))], r.IntN(326_000)+24_000, synthAgents[r.IntN(len(synthAgents))], us/1_000_000, us/1000%1000)
		n, err := w.Write(line)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, w.Flush()
}

// times returns the function that draws the request time of line i in us.
func (s Synthetic) times() (func(r *rand.Rand, i int) uint64, error) {
	switch s.Profile {
	case ProfileWide, "":
		return func(r *rand.Rand, _ int) uint64 {
			return uint64(min(math.Exp(r.NormFloat64()*1.6+3.2), 200_000) * 1000)
		}, nil
	case ProfileBefore:
		return shares(7142, 0.80), nil
	case ProfileAfter:
		return shares(9669, 0.45), nil
	}
	return nil, fmt.Errorf("unknown profile %q (use before, after or wide)", s.Profile)
}

// shares draws exactly under of every 10,000 times below 100 ms, and the rest
// above with geometric decay by 100 ms.
func shares(under int, decay float64) func(r *rand.Rand, i int) uint64 {
	return func(r *rand.Rand, i int) uint64 {
		// 7919 is prime to 10,000: every run of 10,000 lines visits each
		// remainder once.
		if i*7919%10_000 < under {
			return uint64(r.IntN(100)) * 1000
		}
		bin := 1 + int(math.Log(1-r.Float64())/math.Log(decay))
		return uint64(min(bin, 90)*100+r.IntN(100)) * 1000
	}
}
