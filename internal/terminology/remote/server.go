package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Config says which server is asked, and how patiently. All fields but
// Registerer are needed.
type Config struct {
	URL     string        // its base, "https://tx.example.org/r4"; a user and password in it are sent
	Timeout time.Duration // of one question
	// Rest is how long a server that did not answer is left alone.
	Rest       time.Duration
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// The bounds.
const (
	maxAtOnce  = 16       // questions under way
	maxAnswer  = 8 << 20  // bytes of one
	maxAnswers = 32 << 20 // bytes of all that are kept
	// How long answers are kept: those with content, and refusals.
	keepAnswer  = time.Hour
	keepRefusal = 5 * time.Minute
)

// Server is another terminology server. It implements terminology.Remote, and
// is safe for concurrent use.
type Server struct {
	config    Config
	base      string
	client    *http.Client
	answers   *otter.Cache[string, answer]
	slots     chan struct{}
	restUntil atomic.Int64 // Unix nanoseconds
	asked     *prometheus.CounterVec
}

// answer is what the server said: its status, not of its own failures, and its
// body.
type answer struct {
	status int
	body   []byte
}

// New makes a Server. It does not ask anything yet.
func New(config Config) (*Server, error) {
	base, err := url.Parse(config.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the URL of a terminology server must be like https://tx.example.org/r4")
	}
	answers, err := otter.New(&otter.Options[string, answer]{
		MaximumWeight: maxAnswers,
		Weigher:       func(question string, a answer) uint32 { return uint32(len(question) + len(a.body) + 200) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, answer]) time.Duration {
			if e.Value.status >= 400 {
				return keepRefusal
			}
			return keepAnswer
		}),
	})
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: config, base: strings.TrimRight(base.String(), "/"), answers: answers, slots: make(chan struct{}, maxAtOnce),
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxAtOnce, MaxConnsPerHost: maxAtOnce,
				IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "starling_terminology_remote_total",
			Help: "Questions to the other terminology server: answered, refused, failed, or not asked while it rests.",
		}, []string{"outcome"}),
	}
	if config.Registerer == nil {
		return s, nil
	}
	return s, config.Registerer.Register(s.asked)
}

// Close ends what runs in the background.
func (s *Server) Close() {
	s.answers.StopAllGoroutines()
	s.client.CloseIdleConnections()
}

// post sends Parameters to an operation, "ValueSet/$expand", or knows its
// answer. Its error is an *fhir.Error: the server is away.
func (s *Server) post(ctx context.Context, operation string, parameters []byte) (answer, error) {
	load := otter.LoaderFunc[string, answer](func(ctx context.Context, _ string) (answer, error) {
		// Others may wait for the same answer longer than the first.
		return s.send(context.WithoutCancel(ctx), operation, parameters)
	})
	a, err := s.answers.Get(ctx, operation+"\n"+string(parameters), load)
	if err == nil {
		return a, nil
	}
	var failure *fhir.Error
	if !errors.As(err, &failure) {
		failure = away(err)
	}
	return a, failure
}

func away(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "The terminology server that was to be asked does not answer.").Because(cause)
}

var errResting = errors.New("it did not answer a moment ago")

func (s *Server) send(ctx context.Context, operation string, parameters []byte) (answer, error) {
	if time.Now().UnixNano() < s.restUntil.Load() {
		s.asked.WithLabelValues("resting").Inc()
		return answer{}, away(errResting)
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return answer{}, away(ctx.Err())
	}
	a, err := s.exchange(ctx, operation, parameters)
	switch {
	case err != nil:
		s.asked.WithLabelValues("failed").Inc()
		s.rest(err)
		return a, away(err)
	case a.status >= 400:
		s.asked.WithLabelValues("refused").Inc()
	default:
		s.asked.WithLabelValues("answered").Inc()
	}
	return a, nil
}

// rest leaves the server alone for a while.
func (s *Server) rest(err error) {
	now := time.Now()
	until := s.restUntil.Load()
	if now.UnixNano() < until || !s.restUntil.CompareAndSwap(until, now.Add(s.config.Rest).UnixNano()) {
		return
	}
	var shown *url.Error
	if errors.As(err, &shown) {
		err = shown.Err // without the URL, which may hold a password
	}
	s.config.Logger.Warn("the terminology server does not answer; codes it would know are unknown meanwhile", "error", err, "wait", s.config.Rest)
}

// isResource reports whether a body is a FHIR resource in JSON, and not the page of a
// proxy, or half of an answer.
func isResource(body []byte) bool {
	tree, err := element.Parse(body, limits)
	return err == nil && tree.Root().Get("resourceType").Str() != ""
}

// exchange is one request over HTTP. A failure of the server is an error, a
// refusal is not.
func (s *Server) exchange(ctx context.Context, operation string, parameters []byte) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/"+operation, bytes.NewReader(parameters))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/fhir+json")
	request.Header.Set("Accept", "application/fhir+json")
	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch status := response.StatusCode; {
	case err != nil:
		return answer{}, err
	case len(body) > maxAnswer:
		return answer{status: http.StatusRequestEntityTooLarge}, nil
	case status >= 500 && status != http.StatusNotImplemented, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return answer{}, fmt.Errorf("status %d", status)
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired:
		return answer{}, fmt.Errorf("status %d: the user and password of its URL are not accepted", status)
	case status >= 300 && status < 400:
		return answer{}, fmt.Errorf("status %d, which leads elsewhere", status)
	case status < 300 && !isResource(body):
		return answer{}, fmt.Errorf("status %d with what is no FHIR resource", status)
	default:
		return answer{status, body}, nil
	}
}
