package workload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

// transaction is 64 bytes there and 64 back on an open connection.
type transaction struct {
	conn
	buf []byte
}

func (t *transaction) once(deadline time.Time) error {
	t.SetDeadline(deadline)
	if _, err := t.Write(t.buf); err != nil {
		return err
	}
	_, err := io.ReadFull(t, t.buf)
	return err
}

func (l *load) requests() (loaded, error) {
	return l.rates(Transactions, arrival{kept: true, dial: func(ctx context.Context) (exchange, error) {
		c, err := l.dialIn(ctx, modeRequests, 0)
		return &transaction{c, make([]byte, exchangeN)}, err
	}})
}

// single is a connection for one exchange; the server closes it.
type single struct{ conn }

func (s single) once(deadline time.Time) error {
	s.SetDeadline(deadline)
	if _, err := s.Write(append(head(modeOnce, 0), make([]byte, exchangeN)...)); err != nil {
		return err
	}
	answer, err := input.Stream(s, "the answer", exchangeN)
	if err == nil && len(answer) != exchangeN {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (l *load) connections() (loaded, error) {
	return l.rates(Connections, singles(l.addr))
}

func singles(addr string) arrival {
	return arrival{dial: func(ctx context.Context) (exchange, error) {
		c, err := connect(ctx, addr)
		return single{c}, err
	}}
}

// question is one over UDP; an answer that comes after a second is none.
type question struct {
	conn
	id uint64
}

func (q *question) once(deadline time.Time) error {
	if soon := time.Now().Add(dnsTimeout); soon.Before(deadline) {
		deadline = soon
	}
	q.id++
	asked := append(head(modeQuestion, q.id), make([]byte, exchangeN-headSize)...)
	return ask(q.conn, asked, make([]byte, 2*answerSize), deadline)
}

// ask sends a question and waits for its answer; a late answer to an earlier
// one is passed over.
func ask(c net.Conn, question, answer []byte, deadline time.Time) error {
	c.SetDeadline(deadline)
	if _, err := c.Write(question); err != nil {
		return err
	}
	for {
		n, err := c.Read(answer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("no answer in time")
		}
		if err != nil {
			return err
		}
		if n >= headSize && slices.Equal(answer[:headSize], question[:headSize]) {
			return nil
		}
	}
}

// fetch asks for a file of so many bytes by HTTP/1.1 on a kept connection.
type fetch struct {
	conn
	in      *bufio.Reader
	request []byte
	size    int64
	got     func(n int, empty bool) // told of what is read of the body; may be nil
}

func (l *load) fetch(ctx context.Context, size int) (*fetch, error) {
	c, err := connect(ctx, l.addr)
	if err != nil {
		return nil, err
	}
	return &fetch{conn: c, in: bufio.NewReaderSize(c, 4<<10), size: int64(size),
		request: fmt.Appendf(nil, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", size, l.addr)}, nil
}

func (f *fetch) once(deadline time.Time) error {
	f.SetDeadline(deadline)
	if _, err := f.Write(f.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(f.in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.ContentLength != f.size {
		return fmt.Errorf("answered %s with %d bytes", answer.Status, answer.ContentLength)
	}
	if f.got == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	for buf := make([]byte, chunk); ; {
		n, err := answer.Body.Read(buf)
		f.got(n, n < len(buf))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *load) smallFiles() (loaded, error) {
	out, err := l.rates(Requests, arrival{kept: true, anew: true,
		dial: func(ctx context.Context) (exchange, error) { return l.fetch(ctx, smallFile) }})
	if err == nil {
		out.Metrics[Goodput] = out.Metrics[Requests] * smallFile * 8
	}
	return out, err
}

// largeFiles fetches over a few connections, each file after the other. What
// comes between two instants counts, of files that end later too.
func (l *load) largeFiles() (loaded, error) {
	t := &tally{}
	began := time.Now()
	streams := make([]*arrivals, l.spec.Streams)
	var rtt time.Duration
	var wg sync.WaitGroup
	for i := range streams {
		a := new(arrivals)
		streams[i] = a
		asked := time.Now()
		f, err := l.fetch(l.ctx, largeFile)
		if err != nil {
			return loaded{}, err
		}
		rtt = time.Since(asked)
		f.got = func(n int, empty bool) { a.add(time.Since(began), time.Millisecond, n, empty) }
		wg.Go(func() {
			defer f.Close()
			for time.Now().Before(l.until) {
				start := time.Now()
				err := f.once(l.until.Add(max(100*time.Millisecond, rtt)))
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return
				}
				t.add(start.Sub(began), time.Since(start), err)
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	r := Run{Metrics: map[string]float64{Requests: float64(len(t.times)) / l.spec.total().Seconds()}}
	r.distribution(t.times)
	for _, a := range streams {
		by := a.bytesBy(rtt)
		r.Metrics[Goodput] += 8 * (by(l.until.Sub(began)) - by(l.from.Sub(began))) / l.spec.Duration.Seconds()
	}
	if r.Metrics[Goodput] == 0 && t.last != nil {
		return loaded{}, t.last
	}
	return loaded{r}, nil
}

// fileHead is as long as what web servers answer before a file: on a path whose
// rate binds, that is a part of what a request for a small one costs.
const fileHead = "HTTP/1.1 200 OK\r\nServer: wirerate\r\nDate: %s\r\n" +
	"Content-Type: text/plain\r\nContent-Length: %d\r\nLast-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n" +
	"Connection: keep-alive\r\nETag: \"00000000-400\"\r\nAccept-Ranges: bytes\r\n\r\n"

// serveFiles answers GET /N with N bytes, on a connection whose first bytes were
// read already.
func serveFiles(c net.Conn, first []byte) error {
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(first), c), 4<<10)
	body := make([]byte, chunk)
	for {
		c.SetReadDeadline(time.Now().Add(time.Minute))
		request, err := http.ReadRequest(in)
		if err != nil {
			return err
		}
		size, err := strconv.Atoi(request.URL.Path[min(1, len(request.URL.Path)):])
		if err != nil || size < 0 || size > largeFile {
			_, err := io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			if err != nil {
				return err
			}
			continue
		}
		out := fmt.Appendf(nil, fileHead, time.Now().UTC().Format(http.TimeFormat), size)
		n := min(size, len(body))
		if _, err := c.Write(append(out, body[:n]...)); err != nil {
			return err
		}
		for size -= n; size > 0; size -= n {
			n = min(size, len(body))
			if _, err := c.Write(body[:n]); err != nil {
				return err
			}
		}
	}
}

// dialIn opens a connection in a mode within a context.
func (l *load) dialIn(ctx context.Context, mode byte, number uint64) (conn, error) {
	c, err := connect(ctx, l.addr)
	if err != nil {
		return conn{}, err
	}
	if _, err := c.Write(head(mode, number)); err != nil {
		c.Close()
		return conn{}, err
	}
	return c, nil
}
