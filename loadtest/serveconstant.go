package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"starling/loadtest/constant"
)

type serveConstantCommand struct {
	Listen string `default:"127.0.0.1:8090" help:"Address to listen on."`
}

// Run serves until the program is asked to end.
func (c *serveConstantCommand) Run(ctx context.Context) error {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving http://%s/fhir\n", listener.Addr())
	server := &http.Server{Handler: &constant.Handler{}, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
