package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// A listening connection that has been silent for listenSilence is pinged: a
// half-open one gives no error by itself.
const (
	listenSilence = time.Second
	listenPing    = 2 * time.Second
)

// Notify is the transport `notify` of a store: NOTIFY and LISTEN on one channel.
func (s *Store) Notify() Notify { return Notify{s} }

// Notify implements cache.Transport.
type Notify struct{ store *Store }

// Name implements cache.Transport.
func (Notify) Name() string { return "notify" }

// Listen implements cache.Transport. The connection is its own, never a pool's,
// so no LISTEN is left behind in a connection that serves requests.
func (n Notify) Listen(ctx context.Context, ready func() error, changed func(fhir.DomainVersions)) error {
	config := n.store.reserve.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] += " listener"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenPing)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, `LISTEN starling_cache`); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	for {
		payload, err := nextNotification(ctx, conn)
		if err != nil {
			return err
		}
		if domain, version, ok := parseNotification(payload); ok {
			changed(fhir.DomainVersions{domain: version})
		}
	}
}

// nextNotification waits for a notification, and makes sure meanwhile that the
// connection is alive.
func nextNotification(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, listenSilence)
		n, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil {
			return n.Payload, nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		pinging, cancel := context.WithTimeout(ctx, listenPing)
		err = conn.Ping(pinging)
		cancel()
		if err != nil {
			return "", err
		}
	}
}

// parseNotification reads "domain version".
func parseNotification(payload string) (fhir.Domain, int64, bool) {
	domain, text, _ := strings.Cut(payload, " ")
	version, err := strconv.ParseInt(text, 10, 64)
	return fhir.Domain(domain), version, err == nil
}
