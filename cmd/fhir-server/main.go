// Command fhir-server is Starling, a FHIR R4 server. This package is the
// command line and the wiring of the parts, nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long signals count as one: a supervisor may send one to the
// process, and another to its group (timeout of GNU).
const sameSignal = time.Second

func main() {
	// Cancelled by the first signal; the second one, uncaught, ends the process.
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(sameSignal)
		release()
	})

	p := &program{stdout: os.Stdout, stderr: os.Stderr}
	err := p.parseFlags(os.Args[1:])
	if err == nil {
		err = p.run(ctx)
	}
	switch {
	case errors.Is(err, errHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "fhir-server:", err)
		os.Exit(1)
	}
}
