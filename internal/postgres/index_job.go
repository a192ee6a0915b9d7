package postgres

import (
	"context"
	"time"
	"uuid"
)

// jobLease is how long an instance that has gone without a word keeps others from
// indexing. One that was stopped for longer may find another at it when it goes on:
// then both do the work, to the same end, until the first notices.
const jobLease = 5 * time.Second

// leadJob makes the caller the one that indexes, until leave is called; first is
// false if there is another. The context ends when another has taken its place.
func (s *Store) leadJob(ctx context.Context) (leading context.Context, leave func(), first bool, err error) {
	holder := uuid.NewV7().String()
	if first, err = s.takeJob(ctx, holder); err != nil || !first {
		return nil, nil, false, err
	}
	leading, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.keepJob(leading, holder, end)
	}()
	return leading, func() {
		end()
		<-ended
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobLease)
		defer cancel()
		// If it fails, the row is out of date by itself soon.
		_, _ = s.reserve.Exec(leaving, `DELETE FROM index_job WHERE holder = $1`, holder)
	}, true, nil
}

// keepJob renews the row until ctx ends, and ends the work if it is another's.
func (s *Store) keepJob(ctx context.Context, holder string, end func()) {
	ticker := time.NewTicker(jobLease / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if mine, err := s.takeJob(ctx, holder); err == nil && !mine {
			end()
			return
		}
	}
}

// takeJob makes the row the holder's, unless another's is in date.
func (s *Store) takeJob(ctx context.Context, holder string) (bool, error) {
	tag, err := s.reserve.Exec(ctx, `INSERT INTO index_job AS j (holder, until) VALUES ($1, clock_timestamp() + $2::interval)
		ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE j.holder = excluded.holder OR j.until < clock_timestamp()`, holder, jobLease)
	return tag.RowsAffected() == 1, err
}
