package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// fioOutput is what is read of fio's JSON (fio 3, --output-format=json or
// json+; stat.c, show_thread_status_json). Times ending in _ns are in ns,
// runtimes in ms.
type fioOutput struct {
	Version string         `json:"fio version"`
	Global  map[string]any `json:"global options"`
	Jobs    []fioJob       `json:"jobs"`
}

type fioJob struct {
	Name    string         `json:"jobname"`
	Error   int            `json:"error"`
	Options map[string]any `json:"job options"`
	Read    fioSide        `json:"read"`
	Write   fioSide        `json:"write"`
	Sync    struct {
		Total float64    `json:"total_ios"`
		Lat   fioLatency `json:"lat_ns"`
	} `json:"sync"`
}

type fioSide struct {
	Bytes   float64    `json:"io_bytes"`
	Runtime float64    `json:"runtime"`
	Total   float64    `json:"total_ios"`
	IOPS    float64    `json:"iops"`
	Clat    fioLatency `json:"clat_ns"`
	Lat     fioLatency `json:"lat_ns"`
}

type fioLatency struct {
	Min         float64            `json:"min"`
	Max         float64            `json:"max"`
	Mean        float64            `json:"mean"`
	Percentiles map[string]float64 `json:"percentile"`
}

// rate is operations per second.
func (s fioSide) rate() float64 {
	if s.Total > 0 && s.Runtime > 0 {
		return s.Total / s.Runtime * 1e3
	}
	return s.IOPS
}

// at returns a percentile in s; the engine is a synchronous one, so that
// completion takes the whole call.
func (s fioSide) at(p string) (float64, bool) {
	for _, l := range []fioLatency{s.Clat, s.Lat} {
		if v, ok := l.Percentiles[p]; ok && v > 0 {
			return v / 1e9, true
		}
	}
	return 0, false
}

// parseFio reads one or more outputs of fio, one after the other. A job is
// taken for what its options say it does; in what somebody else ran, the first
// job of a kind counts.
func parseFio(text string, r *Run) error {
	documents := fioDocument.FindAllString(text, -1)
	if begun := len(fioBegin.FindAllStringIndex(text, -1)); begun != len(documents) {
		return fmt.Errorf("%d of %d results of fio are whole: the output was cut", len(documents), begun)
	}
	if documents == nil {
		documents = []string{text} // on one line
	}
	for _, document := range documents {
		var out fioOutput
		if err := json.Unmarshal([]byte(document), &out); err != nil {
			return fmt.Errorf("not the whole JSON of fio --output-format=json: %w", err)
		}
		if !strings.HasPrefix(out.Version, "fio-") {
			return errors.New("JSON, but not of fio")
		}
		for _, j := range out.Jobs {
			if j.Error != 0 {
				return fmt.Errorf("job %q ended with error %d", j.Name, j.Error)
			}
			options := maps.Clone(out.Global)
			if options == nil {
				options = map[string]any{}
			}
			maps.Copy(options, j.Options)
			j.Options = options
			r.addFio(j)
		}
	}
	if len(r.Metrics) > 0 {
		return nil
	}
	for _, why := range r.Unknown {
		return errors.New(why)
	}
	return errors.New("no job that writes synchronously, writes or reads in large blocks, or reads small ones at random")
}

// fioDocument is one result: between two there may be remarks of fio.
var (
	fioDocument = regexp.MustCompile(`(?ms)^\{[ \r]*$.*?^\}`)
	fioBegin    = regexp.MustCompile(`(?m)^\{[ \r]*$`)
)

// option is an option of the job as text; "" when it was not given.
func (j fioJob) option(names ...string) string {
	for _, name := range names {
		if v, ok := j.Options[name]; ok {
			return fmt.Sprint(v)
		}
	}
	return ""
}

func (r *Run) addFio(j fioJob) {
	set := func(name string, v float64) {
		if _, known := r.Metrics[name]; !known && v > 0 {
			r.Metrics[name] = v
		}
	}
	random := strings.HasPrefix(j.option("rw", "readwrite"), "rand")
	depth := max(number(j.option("iodepth")), 1) * max(number(j.option("numjobs")), 1)
	small := blockOf(j.option("bs", "blocksize")) <= 16<<10
	direct := j.option("direct") == "1"
	switch w := j.Write; {
	case w.Total == 0:
	case j.synchronous() && depth == 1:
		r.addSync(j, set)
	case !random && !small && w.Runtime > 0:
		set(WriteBytes, w.Bytes/w.Runtime*1e3)
	}
	switch rd := j.Read; {
	case rd.Total == 0:
	case !direct:
		for name, is := range map[string]bool{RandomReads: random && small && depth == 1, DeepReads: random && small &&
			depth > 1, ReadBytes: !random && !small} {
			if is {
				r.unknown(name, fmt.Sprintf("fio's job %q read without direct=1, so that memory may have answered", j.Name))
			}
		}
	case random && small && depth == 1:
		set(RandomReads, rd.rate())
		if v, ok := rd.at("50.000000"); ok {
			set(RandomReadTime, v)
		}
	case random && small:
		set(DeepReads, rd.rate())
	case !random && !small && rd.Runtime > 0:
		set(ReadBytes, rd.Bytes/rd.Runtime*1e3)
	}
}

// synchronous tells whether each write is on stable storage before the next.
func (j fioJob) synchronous() bool {
	return !slices.Contains([]string{"", "0", "none"}, j.option("sync")) || j.option("fsync") == "1" ||
		j.option("fdatasync") == "1"
}

// addSync takes the times of synchronous writes. With a sync call after each
// write fio has two distributions, of which only the means can be added.
func (r *Run) addSync(j fioJob, set func(string, float64)) {
	if _, known := r.Metrics[SyncWrites]; known {
		return
	}
	set(SyncWrites, j.Write.rate())
	if j.Sync.Total > 0 {
		set(LatencyMean, (j.Write.Clat.Mean+j.Sync.Lat.Mean)/1e9)
		return
	}
	for name, p := range map[string]string{LatencyP50: "50.000000", LatencyP90: "90.000000", LatencyP99: "99.000000",
		LatencyP999: "99.900000"} {
		beyond := map[string]float64{LatencyP50: 0.5, LatencyP90: 0.1, LatencyP99: 0.01, LatencyP999: 0.001}[name]
		if v, ok := j.Write.at(p); ok && (name == LatencyP50 || j.Write.Total*beyond >= 1-1e-9) {
			set(name, v)
		}
	}
	set(LatencyMin, j.Write.Clat.Min/1e9)
	set(LatencyMean, j.Write.Clat.Mean/1e9)
	set(LatencyMax, j.Write.Clat.Max/1e9)
}

var blockSize = regexp.MustCompile(`^([0-9]+)([kKmM]?)(?:i?[bB])?$`)

// blockOf reads a block size of fio, whose units are powers of 1024 unless
// told; its own default is 4k.
func blockOf(text string) float64 {
	if text == "" {
		return 4096
	}
	m := blockSize.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return number(m[1]) * map[string]float64{"": 1, "k": 1 << 10, "m": 1 << 20}[strings.ToLower(m[2])]
}

var (
	slogRow  = regexp.MustCompile(`^\s*([0-9.]+(?:e\+[0-9]+)?) kbytes:\s+([0-9.]+) usec/IO =\s+([0-9.]+) Mbytes/s`)
	rateRow  = regexp.MustCompile(`^\s*(?:outside|middle|inside):\s+\d+ kbytes in\s+([0-9.]+) sec =\s+(\d+) kbytes/sec`)
	asyncRow = regexp.MustCompile(`^\s*4 kbytes:\s+\d+ ops in\s+[0-9.]+ sec =\s+(\d+) IOPS`)
)

// parseDiskinfo reads diskinfo -wS, -t and -i of FreeBSD (diskinfo(8)), which
// works on a raw device: the writes of -w destroy what is on it, so that
// wirerate reads what it printed and never runs it. Of the transfer rates the
// lowest counts, which a filled disk has.
func parseDiskinfo(text string, r *Run) error {
	lines(text, func(line string) {
		if m := slogRow.FindStringSubmatch(line); m != nil && number(m[1]) == 4 && number(m[2]) > 0 {
			r.Metrics[LatencyMean] = number(m[2]) / 1e6
			r.Metrics[SyncWrites] = 1e6 / number(m[2])
		}
		if m := rateRow.FindStringSubmatch(line); m != nil {
			v := number(m[2]) * 1024
			if old, ok := r.Metrics[ReadBytes]; !ok || v < old {
				r.Metrics[ReadBytes] = v
			}
		}
		if m := asyncRow.FindStringSubmatch(line); m != nil {
			r.Metrics[DeepReads] = number(m[1])
		}
	})
	if len(r.Metrics) == 0 {
		return errNoResult
	}
	return nil
}

var ddDone = regexp.MustCompile(`^([0-9]+) bytes.*(?:copied,|transferred in) ([0-9.]+(?:[eE][+-]?[0-9]+)?) s`)

// parseDD reads what ddScript prints: GNU's, BusyBox's and the BSDs' dd tell
// bytes and seconds in a line.
func parseDD(text string) (Run, error) {
	r := Run{Tool: "dd", Retransmits: -1, Metrics: map[string]float64{}, Raw: text}
	phase := ""
	lines(text, func(line string) {
		if name, ok := strings.CutPrefix(line, "phase "); ok {
			phase = name
		}
		m := ddDone.FindStringSubmatch(line)
		if m == nil {
			return
		}
		n, took := number(m[1]), number(m[2])
		if n <= 0 || took <= 0 {
			return
		}
		switch phase {
		case "write":
			r.Metrics[WriteBytes] = n / took
		case "sync":
			r.Metrics[SyncWrites], r.Metrics[LatencyMean] = n/syncBlock/took, took/(n/syncBlock)
		case "read":
			r.Metrics[ReadBytes] = n / took
		}
	})
	if _, ok := r.Metrics[SyncWrites]; !ok {
		return Run{}, fmt.Errorf("dd there does not write synchronously (oflag=sync); install fio, or "+
			"wirerate in its PATH: %s", strconv.Quote(clip(strings.TrimSpace(text), 200)))
	}
	return r, nil
}
