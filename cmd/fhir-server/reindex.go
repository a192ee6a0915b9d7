package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// reindexCommand indexes stored resources anew: after a release that indexes
// otherwise, or to be rid of what replaced search parameters have left.
type reindexCommand struct {
	databaseFlags
	textFlags
	logFlags

	Types   []string `arg:"" optional:"" name:"type" help:"Resource types (all)."`
	BaseURL string   `env:"FHIR_BASE_URL" default:"http://127.0.0.1:8080/fhir" placeholder:"URL" help:"Base URL of the server: absolute references to it are local (${default})."`
}

// Validate checks the flags. Kong calls it.
func (c *reindexCommand) Validate() error {
	for _, t := range c.Types {
		if !definition.R4().IsResourceType(t) {
			return fmt.Errorf("there is no resource type %q", t)
		}
	}
	return errors.Join(c.check(), checkBaseURL(c.BaseURL))
}

// Run implements command.
func (c *reindexCommand) Run(ctx context.Context, p *program) (err error) {
	database, err := c.open(ctx, c.logger(p.stderr), prometheus.NewRegistry(), 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.close()) }()
	parameters, err := loadParameters(ctx, database, c.TextSearch)
	if err != nil {
		return err
	}
	types := definition.R4().ResourceTypes()
	if len(c.Types) > 0 {
		types = nil
		for _, t := range c.Types {
			types = append(types, fhir.ResourceType(t))
		}
	}
	start, shown := time.Now(), time.Now()
	var before, done int64 = -1, 0
	err = parameters.Reindex(ctx, database, types, c.BaseURL, func(n, total int64) {
		if before < 0 {
			before = n
		}
		done = n
		if time.Since(shown) > time.Second || n == total {
			shown = time.Now()
			fmt.Fprintf(p.stderr, "fhir-server: %d of about %d resources are indexed, %.0f/s\n", n, total, float64(n-before)/time.Since(start).Seconds())
		}
	})
	if ctx.Err() != nil {
		return errors.New("interrupted: run it again to go on")
	}
	if err == nil {
		_, err = fmt.Fprintf(p.stdout, "fhir-server: %d resources are indexed\n", done)
	}
	return err
}
