package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/fhir"
)

// Config says how to open a Store. Only URL is required.
type Config struct {
	// URL is a PostgreSQL connection URL or keyword string.
	URL string
	// ListenURL leads to the same database past any pooler that URL goes through;
	// empty: URL. Listeners, replication and migrations use it.
	ListenURL string
	// MaxConns is the most connections of this instance, all pools together;
	// 0: 16, and at least 6.
	MaxConns   int
	Registerer prometheus.Registerer
	Logger     *slog.Logger

	// SearchTimeout is how long a search may take; 0: 10 s.
	SearchTimeout time.Duration

	// coalesce is the most requests a batch has, 0 for the default; 1 turns
	// coalescing off, for the benchmark.
	coalesce int
	// readLoops and writeLoops are the loops of the coalescers.
	readLoops, writeLoops int
}

// Store keeps resources in PostgreSQL.
type Store struct {
	requests  *pgxpool.Pool // transactions, history, search
	coalesced *pgxpool.Pool // the loops of reader and writer
	reserve   *pgxpool.Pool // listener, jobs, resolving outcomes

	listenURL string
	pooled    bool // connections are a pooler's

	lanes         *lanes // of searches
	searchTimeout time.Duration
	sampling      sampling

	types   types
	hash    hasher
	rids    rids
	names   knownNames
	lineage lineage
	reader  *reader
	writer  *writer
	metrics *metrics
	logger  *slog.Logger
}

var _ fhir.Store = (*Store)(nil)

// Open connects, checks the server, migrates the database, and starts the
// coalescing loops.
func Open(ctx context.Context, config Config) (*Store, error) {
	s := &Store{logger: config.Logger, metrics: newMetrics(), searchTimeout: config.SearchTimeout, listenURL: cmp.Or(config.ListenURL, config.URL), sampling: defaultSampling}
	if config.ListenURL != "" {
		if err := SameDatabase(ctx, config.URL, config.ListenURL); err != nil {
			return nil, err
		}
	}
	if err := Migrate(ctx, s.listenURL); err != nil {
		return nil, err
	}
	var err error
	if s.pooled, err = isPooled(ctx, config.URL); err != nil {
		return nil, err
	}
	if s.searchTimeout == 0 {
		s.searchTimeout = defaultSearchTimeout
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.pooled {
		s.logger.Info("a connection pooler is in between: settings are made and statements sent anew in each transaction")
	}
	if err := s.openPools(ctx, &config); err != nil {
		s.closePools()
		return nil, err
	}
	if s.pooled {
		if err := findTables(ctx, s.reserve, config.URL); err != nil {
			s.closePools()
			return nil, err
		}
	}
	if err := s.load(ctx); err != nil {
		s.closePools()
		return nil, err
	}
	if config.Registerer != nil {
		if err := s.metrics.register(config.Registerer, s); err != nil {
			s.closePools()
			return nil, err
		}
	}
	s.rids.pool = s.reserve
	s.reader = newReader(s.coalesced, s.metrics, config.readLoops, config.coalesce)
	s.writer = newWriter(s, s.coalesced, config.writeLoops, config.coalesce)
	return s, nil
}

// load reads what never changes in a database.
func (s *Store) load(ctx context.Context) (err error) {
	if s.types, err = loadTypes(ctx, s.reserve); err != nil {
		return err
	}
	var key []byte
	if err := s.reserve.QueryRow(ctx, `SELECT key FROM hash_key`).Scan(&key); err != nil {
		return err
	}
	s.hash = newHasher(key)
	return nil
}

// Close finishes what is queued, then closes the connections. Requests must
// have ended before.
func (s *Store) Close() {
	s.reader.close()
	s.writer.close()
	s.closePools()
	s.metrics.unregister()
}

// Ready reports whether the database answers and accepts writes.
func (s *Store) Ready(ctx context.Context) error {
	var standby bool
	if err := s.reserve.QueryRow(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby); err != nil {
		return unavailable(err)
	}
	if standby {
		return unavailable(errStandby)
	}
	return nil
}

var errStandby = errors.New("postgres: the server is a standby")

// Reserve is the pool kept apart from requests, for a listener and jobs.
func (s *Store) Reserve() *pgxpool.Pool { return s.reserve }

// Read implements fhir.Store.
func (s *Store) Read(ctx context.Context, key fhir.Key) (*fhir.Resource, error) {
	typ, ok := s.types.number[key.Type]
	if !ok {
		return nil, notFound(key)
	}
	resource, err := s.reader.read(ctx, &readRequest{key: key, typ: typ})
	if err == nil && resource == nil {
		err = notFound(key)
	}
	return resource, err
}

// ReadVersion implements fhir.Store.
func (s *Store) ReadVersion(ctx context.Context, key fhir.Key, versionID int64) (*fhir.Resource, error) {
	typ, ok := s.types.number[key.Type]
	if !ok || versionID < 1 || versionID > 1<<31-1 {
		return nil, noVersion(key, versionID)
	}
	resource, err := s.reader.read(ctx, &readRequest{key: key, typ: typ, version: int32(versionID)})
	if err == nil && resource == nil {
		err = noVersion(key, versionID)
	}
	return resource, err
}

func noVersion(key fhir.Key, versionID int64) *fhir.Error {
	return fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "there is no version "+strconv.FormatInt(versionID, 10)+" of "+key.String())
}

// Write implements fhir.Store.
func (s *Store) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	it, err := s.newItem(write)
	if err != nil {
		return fhir.WriteResult{}, err
	}
	return s.writer.write(ctx, it)
}

func formatUint(n uint64) string { return strconv.FormatUint(n, 10) }
