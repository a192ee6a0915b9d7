package rest

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
)

// maxRequestID is the longest X-Request-Id taken over from a client.
const maxRequestID = 128

// identified gives every request an id: the client's own if it is fit for a
// header and a log, else a random one.
func identified(next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		if in.RequestID = in.header("X-Request-Id"); !validRequestID(in.RequestID) {
			in.RequestID = newRequestID()
		}
		out.set("X-Request-Id", in.RequestID)
		next(ctx, in, out)
	}
}

func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func newRequestID() string {
	var raw [8]byte
	var text [16]byte
	n := rand.Uint64()
	for i := range raw {
		raw[i] = byte(n >> (8 * i))
	}
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
