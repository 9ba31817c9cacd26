package canary

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

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

// Prometheus is a Source that asks a server of Prometheus's HTTP API.
type Prometheus struct {
	name string
	api  v1.API
}

// NewPrometheus is the server at an address such as http://prometheus:9090.
func NewPrometheus(address string) (*Prometheus, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("prometheus %q: an address like http://prometheus:9090 is expected", address)
	}
	client, err := api.NewClient(api.Config{Address: address, Client: &http.Client{Transport: bounded{}, Timeout: answerTime}})
	if err != nil {
		return nil, err
	}
	return &Prometheus{u.Redacted(), v1.NewAPI(client)}, nil
}

// bounded is a transport whose answers have an end.
type bounded struct{}

func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{input.Limit(res.Body, "the answer of Prometheus", answerLimit), res.Body}
	}
	return res, err
}

// Now is the server's time.
func (p *Prometheus) Now(ctx context.Context) (time.Time, error) {
	v, _, _, err := p.api.Query(ctx, "time()", time.Time{})
	if err != nil {
		return time.Time{}, p.failed(err)
	}
	scalar, ok := v.(*model.Scalar)
	if !ok {
		return time.Time{}, fmt.Errorf("%w: %s answers time() with a %s; is it Prometheus?", ErrSource, p.name, v.Type())
	}
	return time.UnixMilli(int64(float64(scalar.Value) * 1000)), nil
}

// Range asks for the samples between two times, in pieces.
func (p *Prometheus) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) ([]Series, error) {
	index := map[model.Fingerprint]int{}
	var all []Series
	for start := from; start.Before(to); start = start.Add(pointsAtOnce * step) {
		end := start.Add((pointsAtOnce - 1) * step)
		if last := to.Add(-time.Millisecond); end.After(last) {
			end = last
		}
		v, _, _, err := p.api.QueryRange(ctx, query, v1.Range{Start: start, End: end, Step: step})
		if err != nil {
			return nil, p.failed(err)
		}
		matrix, ok := v.(model.Matrix)
		if !ok {
			return nil, fmt.Errorf("%w: it gives a %s, where a value per host is expected", ErrQuery, v.Type())
		}
		for _, stream := range matrix {
			key := stream.Metric.Fingerprint()
			i, known := index[key]
			if !known {
				i = len(all)
				index[key] = i
				labels := map[string]string{}
				for name, value := range stream.Metric {
					labels[string(name)] = string(value)
				}
				all = append(all, Series{Labels: labels})
			}
			for _, s := range stream.Values {
				all[i].Points = append(all[i].Points, Point{s.Timestamp.Time(), float64(s.Value)})
			}
		}
	}
	return all, nil
}

// failed tells what the server refuses from a server that cannot be reached.
func (p *Prometheus) failed(err error) error {
	if e, ok := err.(*v1.Error); ok && (e.Type == v1.ErrBadData || e.Type == v1.ErrExec) {
		return fmt.Errorf("%w: Prometheus says %s", ErrQuery, e.Msg)
	}
	return fmt.Errorf("%w: %s: %w; nothing was decided, try again when it answers", ErrSource, p.name, err)
}
