package register

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// VersionHeader names the version that a change has made. A request that carries
// it is answered by that version or a later one.
const VersionHeader = "X-Starling-Cache-Version"

// Client sends requests and never sends one twice.
type Client struct{ HTTP *http.Client }

// NewClient gives a client whose requests end after timeout.
func NewClient(timeout time.Duration) *Client {
	return &Client{&http.Client{Timeout: timeout, Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
	}}}
}

// Close closes idle connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Answer is what came back, and when.
type Answer struct {
	Begin, End time.Time // before the request was sent, after its answer was read
	Status     int
	ETag       string
	Location   string
	Version    string // VersionHeader
	Body       []byte
}

// Do sends a request; headers are names and values in turn. The answer's times
// are there with an error, too.
func (c *Client) Do(ctx context.Context, method, url string, body []byte, headers ...string) (a Answer, err error) {
	a.Begin = time.Now()
	defer func() { a.End = time.Now() }()
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	request.GetBody = nil // so that it cannot be sent twice
	if body != nil {
		request.Header.Set("Content-Type", "application/fhir+json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] != "" {
			request.Header.Add(headers[i], headers[i+1])
		}
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.Status, a.ETag = response.StatusCode, response.Header.Get("ETag")
	a.Location, a.Version = response.Header.Get("Location"), response.Header.Get(VersionHeader)
	a.Body, err = io.ReadAll(response.Body)
	return a, err
}

// Set sets the register on a server. match is the ETag that the profile must
// have, or "" for none. With async the answer does not wait for other instances.
func (c *Client) Set(ctx context.Context, base string, r Register, value int64, match string, async bool) (Answer, error) {
	prefer := "return=minimal"
	if async {
		prefer += ", respond-async"
	}
	return c.Do(ctx, http.MethodPut, base+r.Path(), r.Profile(value), "Prefer", prefer, "If-Match", match)
}

// Get asks a server for the value it knows. version, if not empty, is carried as
// VersionHeader. The error is an answer that tells no value, too.
func (c *Client) Get(ctx context.Context, base string, r Register, version string) (int64, Answer, error) {
	a, err := c.Do(ctx, http.MethodPost, base+"/Basic/$validate", r.Probe(), VersionHeader, version)
	if err != nil {
		return 0, a, err
	}
	value, ok := Value(a.Body)
	if !ok || a.Status != http.StatusOK {
		return 0, a, fmt.Errorf("status %d: %.200s", a.Status, a.Body)
	}
	return value, a, nil
}
