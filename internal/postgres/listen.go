package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// Notify is the transport `notify` of a store: NOTIFY and LISTEN on one channel.
func (s *Store) Notify() Notify { return Notify{s} }

// Notify implements cache.Transport.
type Notify struct{ store *Store }

// Name implements cache.Transport.
func (Notify) Name() string { return "notify" }

// Listen implements cache.Transport. Before it says that it listens, it has
// heard itself.
func (n Notify) Listen(ctx context.Context, ready func() error, changed func(fhir.DomainVersions)) error {
	conn, err := n.store.listener(ctx, nil)
	if err != nil {
		return unheard(err, "no connection to listen on")
	}
	defer closeListener(ctx, conn)
	if err := n.test(ctx, conn); err != nil {
		return err
	}
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

// test listens on a channel of its own and waits, silent itself, for what comes
// over another connection. A pooler in transaction mode takes the LISTEN without
// an error, and the server connection away: what then arrives there goes to
// whom it was given to, or nowhere. Only one who asks again may be lucky
// enough to get it back, so nothing is asked meanwhile.
func (n Notify) test(ctx context.Context, conn *pgx.Conn) error {
	channel := "starling_test_" + strings.ToLower(rand.Text())
	backend, err := backendOf(ctx, conn.PgConn(), `LISTEN `+channel)
	if err != nil {
		return err
	}
	pooled := backend != conn.PgConn().PID()
	heard, err := hello(ctx, func(text string) error {
		_, err := n.store.reserve.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, text)
		return err
	}, func(ctx context.Context) (string, error) {
		notification, err := conn.WaitForNotification(ctx)
		if err != nil {
			return "", err
		}
		return notification.Payload, nil
	})
	if err != nil {
		return err
	}
	unlisten(ctx, conn.PgConn(), channel, backend)
	switch {
	case heard:
		return nil
	case pooled:
		return fmt.Errorf("%w: a connection pooler in transaction mode is in between, which LISTEN does not get through; --listen-database-url may go past it", fhir.ErrUnheard)
	}
	return fmt.Errorf("%w: what is notified is not heard within %s; --listen-database-url may lead to another database", fhir.ErrUnheard, helloTries*listenPatience)
}

// mostUnlistens bounds the search for the backend that listens.
const mostUnlistens = 20

// unlisten takes the LISTEN back. Through a pooler it may be that of another
// backend than the connection has now, which most often comes back at once.
func unlisten(ctx context.Context, conn *pgconn.PgConn, channel string, backend uint32) {
	for range mostUnlistens {
		if now, err := backendOf(ctx, conn, `UNLISTEN `+channel); err != nil || now == backend {
			return
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
		pinging, cancel := context.WithTimeout(ctx, listenPatience)
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
