package rest

import (
	"context"
	"fmt"
	"runtime/debug"
)

// recovered answers a panic as an internal error and goes on serving. The
// stack is in the error's text, which is only logged.
func recovered(next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		defer func() {
			if fault := recover(); fault != nil {
				out.fail(in, fmt.Errorf("panic: %v\n%s", fault, debug.Stack()))
			}
		}()
		next(ctx, in, out)
	}
}
