package canary

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

const (
	// pointsAtOnce is how many samples of each series one request asks for;
	// Prometheus gives at most 11,000.
	pointsAtOnce = 500
	// answerLimit bounds one answer.
	answerLimit = 512 * input.MiB
	// answerTime bounds how long one takes.
	answerTime = 2 * time.Minute
)

// Prometheus is a Source that asks a server of Prometheus's HTTP API
// (https://prometheus.io/docs/prometheus/latest/querying/api/).
type Prometheus struct {
	name    string
	address *url.URL
	client  *http.Client
}

// NewPrometheus is the server at an address such as http://prometheus:9090.
func NewPrometheus(address string) (*Prometheus, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("prometheus %q: an address like http://prometheus:9090 is expected", address)
	}
	return &Prometheus{u.Redacted(), u, &http.Client{Timeout: answerTime}}, nil
}

// sample is [seconds since 1970, "value"].
type sample Point

// UnmarshalJSON reads it.
func (s *sample) UnmarshalJSON(text []byte) error {
	var seconds float64
	var value string
	pair := []any{&seconds, &value}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || math.Abs(seconds) > 1e12 {
		return fmt.Errorf("%.100s is no sample", text)
	}
	v, err := strconv.ParseFloat(value, 64)
	*s = sample{At: time.UnixMilli(int64(math.Round(1000 * seconds))), Value: v}
	return err
}

// answer is what the server says to a query.
type answer struct {
	Status, ErrorType, Error string
	Data                     struct {
		ResultType string
		Result     json.RawMessage
	}
}

// ask asks, and reads a result of one type, which is what is wanted.
func (p *Prometheus) ask(ctx context.Context, path string, values url.Values, kind, wanted string, result any) error {
	got, err := p.post(ctx, path, values)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %w; nothing was decided, try again when it answers", ErrSource, p.name, err)
	case got.Status != "success":
		return fmt.Errorf("%w: Prometheus says %s", ErrQuery, got.Error)
	case got.Data.ResultType != kind:
		return fmt.Errorf("%w: it gives a %s, where a %s is expected", ErrQuery, got.Data.ResultType, wanted)
	}
	if err := json.Unmarshal(got.Data.Result, result); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSource, p.name, err)
	}
	return nil
}

// post returns an answer of the API: one that succeeds, or refuses the query. Where only GET is permitted it gets it.
func (p *Prometheus) post(ctx context.Context, path string, values url.Values) (got answer, err error) {
	status, body, err := p.send(ctx, http.MethodPost, path, values)
	if slices.Contains([]int{http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}, status) {
		status, body, err = p.send(ctx, http.MethodGet, path, values)
	}
	if err != nil {
		return got, err
	}
	err = json.Unmarshal(body, &got)
	refused := got.Status == "error" && (got.ErrorType == "bad_data" || got.ErrorType == "execution")
	if status != http.StatusOK && !(err == nil && refused) {
		return got, fmt.Errorf("%d %s", status, http.StatusText(status))
	}
	if err == nil && got.Status != "success" && !refused {
		err = errors.New(cmp.Or(got.Error, "the answer has no status"))
	}
	return got, err
}

func (p *Prometheus) send(ctx context.Context, method, path string,
	values url.Values) (status int, body []byte, err error) {
	address, form := p.address.JoinPath("api/v1", path), values.Encode()
	if method == http.MethodGet {
		address.RawQuery, form = form, ""
	}
	r, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(form))
	if err != nil {
		return 0, nil, err
	}
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = input.Stream(res.Body, "the answer of Prometheus", answerLimit)
	return res.StatusCode, body, err
}

// Now is the server's time.
func (p *Prometheus) Now(ctx context.Context) (time.Time, error) {
	var now sample
	err := p.ask(ctx, "query", url.Values{"query": {"time()"}}, "scalar", "time", &now)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(int64(now.Value * 1000)), nil
}

// Range asks for the samples between two times, in pieces.
func (p *Prometheus) Range(ctx context.Context, query string, from, to time.Time,
	step time.Duration) ([]Series, error) {
	index := map[string]int{}
	var all []Series
	for start := from; start.Before(to); start = start.Add(pointsAtOnce * step) {
		end := start.Add((pointsAtOnce - 1) * step)
		if last := to.Add(-time.Millisecond); end.After(last) {
			end = last
		}
		var matrix []struct {
			Metric map[string]string
			Values []sample
		}
		err := p.ask(ctx, "query_range", url.Values{"query": {query}, "start": {seconds(start)}, "end": {seconds(end)},
			"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}}, "matrix", "value per host", &matrix)
		if err != nil {
			return nil, err
		}
		for _, stream := range matrix {
			key, err := json.Marshal(stream.Metric)
			if err != nil {
				return nil, err
			}
			i, known := index[string(key)]
			if !known {
				i = len(all)
				index[string(key)] = i
				all = append(all, Series{Labels: stream.Metric})
			}
			for _, s := range stream.Values {
				all[i].Points = append(all[i].Points, Point(s))
			}
		}
	}
	return all, nil
}

// seconds writes a time as the API reads it.
func seconds(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64)
}
