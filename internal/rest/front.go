package rest

import "net/http"

// front serves an exchange on net/http.
type front struct{ exchange exchange }

// ServeHTTP implements http.Handler.
func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := incoming{
		Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery,
		Host: r.Host, Peer: r.RemoteAddr, TLS: r.TLS != nil,
		Header: r.Header, Body: r.Body, ContentLength: r.ContentLength,
	}
	out := &outgoing{Status: http.StatusOK, Header: w.Header()}
	f.exchange(r.Context(), &in, out)
	out.setLength()
	w.WriteHeader(out.Status)
	if len(out.Body) > 0 && r.Method != http.MethodHead {
		_, _ = w.Write(out.Body) // fails only if the client has gone
	}
	out.release()
}
