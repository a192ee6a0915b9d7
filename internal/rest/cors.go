package rest

import (
	"context"
	"net/http"
)

// What browsers are told (https://hl7.org/fhir/R4/http.html#2.21.0.6): any
// origin may call, without cookies.
var (
	corsOrigin  = []string{"*"}
	corsExposed = []string{"ETag, Location, Content-Location, Last-Modified, X-Request-Id, " + cacheVersion}
	corsMethods = []string{"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}
	corsHeaders = []string{"Accept, Authorization, Content-Encoding, Content-Type, If-Match, If-Modified-Since, " +
		"If-None-Exist, If-None-Match, Prefer, X-Request-Id, X-Security-Context, " + cacheVersion}
	corsMaxAge = []string{"3600"}
)

// crossOrigin adds the headers of https://fetch.spec.whatwg.org/#http-cors-protocol
// and answers preflights.
func crossOrigin(next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		if len(in.Header["Origin"]) > 0 {
			out.Header["Access-Control-Allow-Origin"] = corsOrigin
			out.Header["Access-Control-Expose-Headers"] = corsExposed
			if in.Method == http.MethodOptions && len(in.Header["Access-Control-Request-Method"]) > 0 {
				out.Header["Access-Control-Allow-Methods"] = corsMethods
				out.Header["Access-Control-Allow-Headers"] = corsHeaders
				out.Header["Access-Control-Max-Age"] = corsMaxAge
				out.Status = http.StatusNoContent
				return
			}
		}
		next(ctx, in, out)
	}
}
