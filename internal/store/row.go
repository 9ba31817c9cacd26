package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"
)

// What is held of a history at once, in bytes: of one value, and of all rows
// of an answer.
const (
	rowLimit  = 64 << 20
	holdLimit = 256 << 20
)

const (
	trialColumns   = `id, kind, workload, metric, place, command, seed, started, ended, state, verdict, setup, environment, result`
	attemptColumns = `trial, seq, arm, at, lost, lost_kind, run, raw`
)

// trialRow is a trial as it is kept.
type trialRow struct {
	ID, Kind, Workload, Metric, Place, Command, Seed, Started, Ended, State, Verdict, Setup, Environment, Result string
}

func (r *trialRow) into() []any {
	return []any{&r.ID, &r.Kind, &r.Workload, &r.Metric, &r.Place, &r.Command, &r.Seed, &r.Started, &r.Ended, &r.State,
		&r.Verdict,
		&r.Setup, &r.Environment, &r.Result}
}

func (r trialRow) fields() []string {
	return []string{r.ID, r.Kind, r.Workload, r.Metric, r.Place, r.Command, r.Seed, r.Started, r.Ended, r.State,
		r.Verdict,
		r.Setup, r.Environment, r.Result}
}

func (r trialRow) sum() []byte { return sumOf(r.fields()...) }

func (r trialRow) trial(runs int) (Trial, error) {
	t := Trial{ID: r.ID, Kind: r.Kind, Workload: r.Workload, Metric: r.Metric, Where: r.Place, Command: r.Command,
		State: r.State, Verdict: r.Verdict,
		Runs: runs, Setup: json.RawMessage(r.Setup), Environment: json.RawMessage(r.Environment),
		Result: json.RawMessage(r.Result)}
	for _, j := range []json.RawMessage{t.Setup, t.Environment, t.Result} {
		if !json.Valid(j) {
			return t, fmt.Errorf("trial %s: what is kept of it is no JSON", r.ID)
		}
	}
	var err error
	if t.Seed, err = strconv.ParseUint(r.Seed, 10, 64); err != nil {
		return t, err
	}
	if t.Started, err = time.Parse(timeFormat, r.Started); err == nil && r.Ended != "" {
		t.Ended, err = time.Parse(timeFormat, r.Ended)
	}
	return t, err
}

// attemptRow is an attempt as it is kept; Raw is packed.
type attemptRow struct {
	Trial               string
	Seq                 int
	Arm, At, Lost, Kind string
	Run                 string
	Raw                 []byte
}

func (r *attemptRow) into() []any {
	return []any{&r.Trial, &r.Seq, &r.Arm, &r.At, &r.Lost, &r.Kind, &r.Run, &r.Raw}
}

func (r attemptRow) sum() []byte {
	return sumOf(r.Trial, strconv.Itoa(r.Seq), r.Arm, r.At, r.Lost, r.Kind, r.Run, string(r.Raw))
}

func (r attemptRow) attempt(unpacker *zstd.Decoder) (Attempt, error) {
	a := Attempt{Seq: r.Seq, Arm: r.Arm, Lost: r.Lost, Kind: r.Kind}
	if err := json.Unmarshal([]byte(r.Run), &a.Run); err != nil {
		return a, err
	}
	at, err := time.Parse(timeFormat, r.At)
	if err != nil {
		return a, err
	}
	raw, err := unpacker.DecodeAll(r.Raw, nil)
	a.At, a.Raw, a.Run.Raw = at, string(raw), string(raw)
	return a, err
}

// sumOf is a checksum of fields, each behind its length.
func sumOf(fields ...string) []byte {
	h := sha256.New()
	for _, f := range fields {
		h.Write(binary.AppendUvarint(nil, uint64(len(f))))
		h.Write([]byte(f))
	}
	return h.Sum(nil)[:16]
}

func values(fields []string) []any {
	all := make([]any, len(fields))
	for i, f := range fields {
		all[i] = f
	}
	return all
}
