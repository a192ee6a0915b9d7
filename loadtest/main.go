// Command loadtest puts the field's load on a FHIR server and measures it from
// outside. See README.md for its scenario and for what it writes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands of the program.
type commands struct {
	CRUD          crudCommand          `cmd:"" name:"crud" help:"Create, read, update and delete nine resource types: 36 requests an iteration."`
	Search        searchCommand        `cmd:"" help:"Search in copies of transaction bundles, at several sizes."`
	Replicate     replicateCommand     `cmd:"" help:"Post copies of transaction bundles, each with ids of its own."`
	Matrix        matrixCommand        `cmd:"" help:"Run crud against 1×8, 2×4, 4×2 and 8×1 instances × cores behind nginx."`
	Sync          syncCommand          `cmd:"" help:"Measure what keeping caches in step costs, and how fast it is."`
	Report        reportCommand        `cmd:"" help:"Write the report of a matrix or of sync again, from its JSON."`
	ServeConstant serveConstantCommand `cmd:"" name:"serve-constant" help:"Serve right answers to crud without storing: measures the load test itself."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	parsed := kong.Parse(&c,
		kong.Name("loadtest"),
		kong.Description("Puts the field's load on a FHIR server and measures it."),
		kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	parsed.FatalIfErrorf(parsed.Run())
}
