package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"starling/internal/fhir"
	"starling/internal/interaction"
	"starling/internal/parameter"
	"starling/internal/rest"
	"starling/internal/terminology"
	"starling/internal/terminology/remote"
)

// serveCommand serves the API until a signal comes.
type serveCommand struct {
	databaseFlags
	searchFlags
	listenFlags
	resourceFlags
	profileFlags
	referenceFlags
	terminologyFlags
	cacheFlags
	logFlags

	SubscriptionAllowPrivate bool `env:"FHIR_SUBSCRIPTION_ALLOW_PRIVATE" help:"Let Subscriptions deliver to loopback and private addresses."`
}

// Validate checks the flags. Kong calls it.
func (c *serveCommand) Validate() error {
	return errors.Join(c.databaseFlags.check(), c.searchFlags.check(), c.listenFlags.check(), c.profileFlags.check(), c.terminologyFlags.check(), c.cacheFlags.check())
}

// Run implements command.
func (c *serveCommand) Run(ctx context.Context, p *program) error {
	logger := c.logger(p.stderr)
	setCollector(logger)

	s := &server{command: c, logger: logger}
	if err := s.start(ctx); err != nil {
		if ctx.Err() != nil {
			return s.close() // told to stop, it did
		}
		return errors.Join(err, s.close())
	}
	fmt.Fprintf(p.stdout, "fhir-server: serving FHIR R4 at %s\n", s.address())
	var failed error
	select {
	case <-ctx.Done():
		logger.Info("stopping", "drainDelay", c.DrainDelay, "drainTimeout", c.DrainTimeout)
	case failed = <-s.failed:
	}
	return errors.Join(failed, s.close())
}

// server is a running `serve`.
type server struct {
	command *serveCommand
	logger  *slog.Logger
	health  rest.Health

	listener net.Listener
	api      *http.Server
	admin    *http.Server
	database *database
	caches   *caches
	runner   *parameter.Runner // nil until it has started
	remote   *remote.Server    // nil: no other terminology server
	// operators is the API for those who reach the admin address, nil until it has
	// started.
	operators atomic.Pointer[http.Handler]
	// failed gets the error of a listener that broke.
	failed chan error
}

// start listens, opens the database, and serves. What it started when it fails,
// close stops.
func (s *server) start(ctx context.Context) (err error) {
	s.failed = make(chan error, 2)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	// Both addresses are taken before the database is opened: that they are in
	// use is found at once. Until the API serves, it takes no connections, so that
	// no request of a load balancer waits here, or is lost if the start fails.
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // its sockets have no filters, which refuseNew needs
	if s.listener, err = plain.Listen(ctx, "tcp", s.command.Listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if err := refuseNew(s.listener); err != nil {
		s.logger.Info("requests may wait while the database is being opened: no socket filter", "error", err)
	}
	if s.command.AdminListen != "" {
		listener, err := net.Listen("tcp", s.command.AdminListen)
		if err != nil {
			return fmt.Errorf("--admin-listen: %w", err)
		}
		s.admin = s.serve(listener, rest.Admin(registry, &s.health, http.HandlerFunc(s.cacheStatus)))
	}
	var opened atomic.Bool
	s.health.Check("start", func(context.Context) error {
		if !opened.Load() {
			return errors.New("the database is being opened")
		}
		return nil
	})
	if s.command.CacheSync == "logical" {
		s.command.ownSettings = []string{"wal_level=logical"}
	}
	if s.database, err = s.command.open(ctx, s.logger, registry, s.command.SearchTimeout); err != nil {
		return err
	}
	s.health.Check("database", s.database.Ready)
	if s.remote, err = s.command.remote(s.logger, registry); err != nil {
		return err
	}
	if s.caches, err = s.command.startCaches(ctx, s.database, s.remote, s.command.settle, s.command.TextSearch, s.about(), s.logger, registry); err != nil {
		return err
	}
	s.runner = &parameter.Runner{Indexing: s.caches.parameters, Store: s.database, Base: s.command.baseURL(), Logger: s.logger}
	if err = s.runner.Start(ctx); err != nil {
		s.runner = nil
		return err
	}
	handler, err := s.handler(registry)
	if err != nil {
		return err
	}
	opened.Store(true)
	s.api = s.serve(s.listener, handler)
	return admitNew(s.listener)
}

// handler joins the parts of the API.
func (s *server) handler(registerer prometheus.Registerer) (http.Handler, error) {
	trusted, err := proxies(s.command.TrustedProxies)
	if err != nil {
		return nil, err
	}
	service, err := newService(s.caches.guard(s.database), s.caches.parameters, &s.command.resourceFlags, s.command.MaxBody)
	if err != nil {
		return nil, err
	}
	service.Terminology = func() *terminology.Terminology { return s.caches.rules.Current().Value.terminology }
	service.Profiles, service.MissingTargets = s.command.byType(), s.command.severity()
	service.Cluster, service.Operators = s.caches.cluster, s.command.OperatorToken != ""
	service.Supported = func(t fhir.ResourceType) []string { return s.caches.rules.Current().Value.validator.Profiles(t) }
	service.Revision = s.caches.revision
	service.Checker = s.caches.parameters.ProfileValidator(checker{
		rules: s.caches.rules, refuse: s.command.TerminologyAway == "fail", questionnaires: stored{service}.questionnaire,
	})
	if s.caches.synchronizer != nil {
		service.Caches = s.caches.synchronizer
		s.health.Check("caches", s.caches.synchronizer.Ready)
	}
	if s.command.Validation == "full" {
		service.Validator = service.Checker
	}
	config := rest.Config{
		Bodies:  rest.NewBodies(s.command.BodiesInWork, paceFor(os.Getenv("GOGC") == "")),
		Service: service, BaseURL: s.command.baseURL(), Proxies: trusted,
		MaxBody: s.command.MaxBody, Timeout: s.command.RequestTimeout, OperatorToken: s.command.OperatorToken,
		Metrics: rest.NewMetrics(registerer), Health: &s.health, Logger: s.logger, AccessLog: s.command.AccessLog,
	}
	handler := rest.New(config)
	config.Operators = true // who reaches the admin address is one
	operators := rest.New(config)
	s.operators.Store(&operators)
	return handler, nil
}

// cacheStatus answers at the admin address, from when the API serves on.
func (s *server) cacheStatus(w http.ResponseWriter, r *http.Request) {
	if handler := s.operators.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/fhir+json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	opening := fhir.Issue{Severity: fhir.SeverityError, Code: fhir.IssueTransient, Diagnostics: "The database is being opened."}
	_, _ = w.Write(interaction.AppendOutcome(nil, []fhir.Issue{opening}))
}

// about is what operators are told of this instance.
func (s *server) about() fhir.Member {
	return fhir.Member{Address: advertised(s.listener.Addr()), Software: software().Version, Level: s.command.Validation}
}

// The limits on a connection. A request's own limit is --request-timeout.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	writeTimeout      = 2 * time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// serve starts serving HTTP/1.1, and HTTP/2 to clients that begin with it.
func (s *server) serve(listener net.Listener, handler http.Handler) *http.Server {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		// From the headers read to the answer sent.
		WriteTimeout:   readTimeout + s.command.RequestTimeout + writeTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return server
}

// address is where the API answers, and what it calls itself if that differs.
func (s *server) address() string {
	address := "http://" + s.listener.Addr().String() + rest.BasePath
	if base := s.command.baseURL(); base != "" && base != address {
		address += " as " + base
	}
	return address
}
