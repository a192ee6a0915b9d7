package rest

import (
	"context"
	"log/slog"
	"net/http"
	"time"
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
		case out.Status >= http.StatusInternalServerError, out.Err != nil && out.Status < http.StatusBadRequest:
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
