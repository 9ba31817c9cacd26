package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// bodyLimit is how much of an answer is read.
const bodyLimit = 64 << 10

// visitor asks for a URL as a new visitor does: with a connection of its own, no
// proxy, and a redirection is an answer. The answer has come when its header has.
func visitor(u *url.URL) func(context.Context) (time.Time, error) {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: bodyLimit},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) (time.Time, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return time.Time{}, err
		}
		req.Header.Set("User-Agent", "wirerate")
		resp, err := client.Do(req)
		at := time.Now()
		if err != nil {
			return at, err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 500 {
			return at, fmt.Errorf("status %d", resp.StatusCode)
		}
		_, _ = io.CopyN(io.Discard, resp.Body, bodyLimit) // so that a short answer is not cut off
		return at, nil
	}
}
