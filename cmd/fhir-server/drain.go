package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// close stops in the order that loses nothing: readiness drops, load balancers
// get time to notice, no further connections are taken, requests in flight
// finish, then the database goes, and last the address where all this can be
// watched.
func (s *server) close() error {
	s.health.Drain()
	var failures []error
	if s.api != nil {
		time.Sleep(s.command.DrainDelay)
		if err := refuseNew(s.listener); err != nil {
			s.logger.Warn("a connection made just now may be lost", "error", err)
		}
		awaitAccepted(s.listener)
		if err := shutDown(s.api, s.command.DrainTimeout); err != nil {
			failures = append(failures, fmt.Errorf("requests were still in flight after %s: %w", s.command.DrainTimeout, err))
		}
	} else if s.listener != nil {
		failures = append(failures, s.listener.Close())
	}
	if s.runner != nil {
		s.runner.Close()
	}
	if s.caches != nil {
		s.caches.close()
	}
	if s.remote != nil {
		s.remote.Close()
	}
	if s.database != nil {
		failures = append(failures, s.database.close())
	}
	if s.admin != nil {
		failures = append(failures, s.admin.Close())
	}
	return errors.Join(failures...)
}

// shutDown lets requests in flight finish, and breaks off those that do not in
// time.
func shutDown(server *http.Server, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
