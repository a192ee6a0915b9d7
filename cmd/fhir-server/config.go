package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"starling/internal/cache"
	"starling/internal/rest"
)

// commandLine is the flags and their environment variables. docs/configuration.md
// explains each; names are fixed, since clients and scripts rely on them.
type commandLine struct {
	Serve   serveCommand   `cmd:"" help:"Serve the FHIR API."`
	Migrate migrateCommand `cmd:"" help:"Bring the database's tables up to date."`
	Load    loadCommand    `cmd:"" help:"Load Bundles, NDJSON and FHIR packages, from files or folders."`
	Reindex reindexCommand `cmd:"" help:"Index stored resources anew, while instances serve."`
	Version versionCommand `cmd:"" help:"Print the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// databaseFlags say where resources are kept.
type databaseFlags struct {
	DatabaseURL         string   `env:"FHIR_DATABASE_URL" placeholder:"URL" help:"PostgreSQL to use (postgres://user:password@host/name). Without it, one of its own under the data folder."`
	ListenDatabaseURL   string   `env:"FHIR_LISTEN_DATABASE_URL" placeholder:"URL" help:"The same database, past the connection pooler that --database-url goes through: for listening, replication and migrations (--database-url)."`
	DatabaseConnections int      `env:"FHIR_DATABASE_CONNECTIONS" default:"16" placeholder:"N" help:"Most connections to the database, of all pools together (${default})."`
	ownSettings         []string // of PostgreSQL, if it is the server's own
	DataDir             string   `env:"FHIR_DATA_DIR" default:"./data" placeholder:"DIR" help:"Folder of the server's own files (${default})."`
}

func (f *databaseFlags) check() error {
	if f.DatabaseConnections < 6 {
		return errors.New("--database-connections must be at least 6")
	}
	for name, text := range map[string]string{"--database-url": f.DatabaseURL, "--listen-database-url": f.ListenDatabaseURL} {
		scheme, _, ok := strings.Cut(text, "://")
		switch {
		case ok && scheme != "postgres" && scheme != "postgresql":
			return fmt.Errorf("%s must be like postgres://user:password@host/name, not %s://…", name, scheme)
		case !ok && text != "" && !strings.Contains(text, "="): // nor keywords, as of libpq; it may hold a password
			return fmt.Errorf("%s must be like postgres://user:password@host/name", name)
		}
	}
	if f.ListenDatabaseURL != "" && f.DatabaseURL == "" {
		return errors.New("--listen-database-url needs --database-url, whose database it leads to")
	}
	return nil
}

// searchFlags bound searches.
type searchFlags struct {
	SearchTimeout time.Duration `env:"FHIR_SEARCH_TIMEOUT" default:"10s" help:"Longest time a search may take; then it is cancelled in the database (${default})."`
}

func (f *searchFlags) check() error {
	if f.SearchTimeout < 100*time.Millisecond || f.SearchTimeout > 10*time.Minute {
		return errors.New("--search-timeout must be between 100ms and 10m")
	}
	return nil
}

// textFlags say which words resources are found by.
type textFlags struct {
	TextSearch string `env:"FHIR_TEXT_SEARCH" enum:"narrative,all,off" default:"narrative" help:"Which words of resources are indexed as they are stored: narrative for _text, all for _content, too, or off (${default})."`
}

// resourceFlags say how resources are checked and found.
type resourceFlags struct {
	textFlags

	Validation string `env:"FHIR_VALIDATION" enum:"full,schema,off" default:"full" help:"What a resource is checked against before it is stored: full, schema or off (${default})."`
}

// terminologyFlags say who knows the code systems that are not held.
type terminologyFlags struct {
	TerminologyURL     string        `env:"FHIR_TERMINOLOGY_URL" placeholder:"URL" help:"Terminology server that is asked about code systems not held here. Without it, their codes are not checked."`
	TerminologyTimeout time.Duration `env:"FHIR_TERMINOLOGY_TIMEOUT" default:"3s" help:"Longest time one question to it may take (${default})."`
	TerminologyAway    string        `env:"FHIR_TERMINOLOGY_AWAY" enum:"warn,fail" default:"warn" help:"What becomes of a resource whose codes it would know while it does not answer: warn (stored) or fail (refused with 503) (${default})."`
}

func (f *terminologyFlags) check() error {
	if f.TerminologyTimeout < 10*time.Millisecond || f.TerminologyTimeout > time.Minute {
		return errors.New("--terminology-timeout must be between 10ms and 1m")
	}
	return nil
}

// logFlags say what is logged, and how.
type logFlags struct {
	LogLevel  string `env:"FHIR_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged: debug, info, warn or error (${default})."`
	LogFormat string `env:"FHIR_LOG_FORMAT" enum:"text,json" default:"text" help:"Format of the log: text or json (${default})."`
}

// cacheFlags say how instances keep their caches in step.
type cacheFlags struct {
	CacheSync  string        `env:"FHIR_CACHE_SYNC" enum:"notify,logical,poll,off" default:"notify" help:"How instances hear of changed system resources: notify, logical, poll or off (${default})."`
	CacheLease time.Duration `env:"FHIR_CACHE_LEASE" default:"2s" help:"Longest time an answer may rest on a system resource since changed (${default})."`

	// CachePollInterval is nil if it is not given.
	CachePollInterval *time.Duration `env:"FHIR_CACHE_POLL_INTERVAL" help:"Time between two readings of the versions with poll, and while another transport does not work (100ms, or a quarter of the lease if that is less); at most a quarter of the lease."`
}

const (
	defaultPollInterval = 100 * time.Millisecond
	minPollInterval     = 10 * time.Millisecond
)

func (f *cacheFlags) check() error {
	if f.CacheLease < 100*time.Millisecond || f.CacheLease > time.Hour {
		return errors.New("--cache-lease must be between 100ms and 1h")
	}
	if given, most := f.CachePollInterval, f.CacheLease/cache.Beats; given != nil && (*given < minPollInterval || *given > most) {
		return fmt.Errorf("--cache-poll-interval must be between %v and %v (a quarter of --cache-lease), not %v", minPollInterval, most, *given)
	}
	return nil
}

// minToken is the least length of --operator-token.
const minToken = 16

// listenFlags say where and to whom the API answers.
type listenFlags struct {
	Listen         string        `env:"FHIR_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of the API (${default})."`
	AdminListen    string        `env:"FHIR_ADMIN_LISTEN" default:"127.0.0.1:9464" placeholder:"ADDRESS" help:"Address of /metrics, /livez, /readyz, /debug/pprof and /fhir/$$cache-status; empty for none (${default})."`
	BaseURL        string        `env:"FHIR_BASE_URL" placeholder:"URL" help:"Base of absolute links. Without it, as the request was addressed."`
	TrustedProxies []string      `env:"FHIR_TRUSTED_PROXIES" default:"loopback" placeholder:"NETWORK" help:"Networks whose Forwarded and X-Forwarded-* headers are believed: CIDR, loopback, private or none (${default})."`
	OperatorToken  string        `env:"FHIR_OPERATOR_TOKEN" placeholder:"TOKEN" help:"Bearer token by which operators are known at the API's address; without it they are served at the admin address alone."`
	Auth           string        `env:"FHIR_AUTH" enum:",none" default:"" placeholder:"HOW" help:"How clients prove who they are: none. Must be given where --listen is no loopback address."`
	MaxBody        int64         `env:"FHIR_MAX_BODY" default:"67108864" placeholder:"BYTES" help:"Largest request body, decompressed (${default})."`
	BodiesInWork   int64         `env:"FHIR_BODIES_IN_WORK" default:"67108864" placeholder:"BYTES" help:"Bytes of large request bodies, decompressed, in work at once; more wait (${default})."`
	RequestTimeout time.Duration `env:"FHIR_REQUEST_TIMEOUT" default:"60s" help:"Longest time an interaction may take (${default})."`
	DrainDelay     time.Duration `env:"FHIR_DRAIN_DELAY" default:"0s" help:"Time between becoming unready and refusing connections, for load balancers to notice (${default})."`
	DrainTimeout   time.Duration `env:"FHIR_DRAIN_TIMEOUT" default:"30s" help:"Longest wait for requests in flight when stopping (${default})."`
	AccessLog      bool          `env:"FHIR_ACCESS_LOG" help:"Log every request."`
}

// check refuses what could only fail later, or would open the server to others
// unawares.
func (f *listenFlags) check() error {
	host, _, err := net.SplitHostPort(f.Listen)
	if err != nil {
		return fmt.Errorf("--listen must be HOST:PORT: %w", err)
	}
	if !isLoopback(host) && f.Auth == "" {
		return fmt.Errorf("--listen=%s lets other machines in: state with --auth how they prove who they are (none: they need not)", f.Listen)
	}
	if f.OperatorToken != "" && len(f.OperatorToken) < minToken {
		return fmt.Errorf("--operator-token must have at least %d characters", minToken)
	}
	if f.BodiesInWork < 1<<20 {
		return errors.New("--bodies-in-work must be at least 1048576")
	}
	if f.MaxBody < 1 || f.MaxBody > 1<<30 {
		return errors.New("--max-body must be between 1 and 1073741824")
	}
	if f.RequestTimeout <= 0 || f.DrainDelay < 0 || f.DrainTimeout < 0 {
		return errors.New("--request-timeout must be positive, --drain-delay and --drain-timeout not negative")
	}
	if err := checkBaseURL(f.BaseURL); err != nil {
		return err
	}
	_, err = proxies(f.TrustedProxies)
	return err
}

// baseURL is the setting without a slash at its end.
func (f *listenFlags) baseURL() string { return strings.TrimRight(f.BaseURL, "/") }

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func checkBaseURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("--base-url must be like https://example.org/fhir, not %q", text)
	}
	return nil
}

// networks are the names --trusted-proxies knows beside CIDR.
var networks = map[string][]string{
	"none":     nil,
	"loopback": {"127.0.0.0/8", "::1/128"},
	"private":  {"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "169.254.0.0/16", "fe80::/10"},
}

func proxies(names []string) (rest.Proxies, error) {
	var all rest.Proxies
	for _, name := range names {
		texts, ok := networks[strings.TrimSpace(name)]
		if !ok {
			texts = []string{strings.TrimSpace(name)}
		}
		for _, text := range texts {
			network, err := netip.ParsePrefix(text)
			if err != nil {
				return nil, fmt.Errorf("--trusted-proxies: %q is no network such as 10.0.0.0/8, nor loopback, private or none", name)
			}
			all = append(all, network.Masked())
		}
	}
	return all, nil
}
