package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"starling/internal/fhir"
)

// logged logs failures of the server with their cause, and every request if
// all is set or the level is debug. Queries are left out: searches carry names
// and numbers of patients.
func logged(logger *slog.Logger, all bool, next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		started := time.Now()
		next(ctx, in, out)
		level := slog.LevelDebug
		switch {
		case (out.Status >= http.StatusInternalServerError || out.Err != nil && out.Status < http.StatusBadRequest) && !isPreparing(out.Err):
			level = slog.LevelError
		case all:
			level = slog.LevelInfo
		}
		if !logger.Enabled(ctx, level) {
			return
		}
		attributes := []slog.Attr{
			slog.String("requestId", in.RequestID), slog.String("method", in.Method), slog.String("path", in.Path),
			slog.String("interaction", string(out.Interaction)), slog.Int("status", out.Status),
			slog.Duration("duration", time.Since(started)), slog.Int("bytes", len(out.Body)),
		}
		if out.Err != nil {
			attributes = append(attributes, slog.String("error", out.Err.Error()))
		}
		logger.LogAttrs(ctx, level, "request", attributes...)
	}
}

// isPreparing reports whether nothing failed: what was asked for is being made
// ready, and clients ask until it is.
func isPreparing(err error) bool {
	var known *fhir.Error
	return errors.As(err, &known) && known.Kind == fhir.KindPreparing
}
