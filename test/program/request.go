package program

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"
)

// HTTP is a client for many requests at once. It never repeats a request.
var HTTP = &http.Client{
	Timeout:   time.Minute,
	Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
}

// Answer is what a server answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request with a JSON body, nil for none, and pairs of further headers.
func Do(method, url string, body []byte, headers ...string) (Answer, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Accept", "application/fhir+json")
	if body != nil {
		request.Header.Set("Content-Type", "application/fhir+json")
		// Else net/http may send it again on another connection when the first is
		// lost, and count as one what was two.
		request.GetBody = nil
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := HTTP.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, text}, err
}

// Want sends a request and fails the test at once unless the status is as wanted.
func Want(t testing.TB, status int, method, url string, body []byte, headers ...string) Answer {
	t.Helper()
	answer, err := Do(method, url, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != status {
		t.Fatalf("%s %s: status %d, want %d: %.600s", method, url, answer.Status, status, answer.Body)
	}
	return answer
}
