// Package wire is an HTTP/1.1 client for load generation: one persistent
// connection a virtual user, prebuilt request heads, and of a response only
// what the scenario looks at. It shares the machine with the server it
// measures, so it costs a fraction of net/http's client.
package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Target is a server under load: a FHIR base URL.
type Target struct {
	Address string // host:port
	Host    string // the Host header
	Base    string // path of the base, without a slash at its end
}

// ParseTarget takes a URL such as http://127.0.0.1:8080/fhir. TLS is not
// supported: load is put on the server, or on the proxy's plain port.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, err
	}
	if u.Scheme != "http" || u.Host == "" || u.RawQuery != "" {
		return Target{}, fmt.Errorf("target %q: want http://host[:port][/base]", text)
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "80")
	}
	return Target{Address: address, Host: u.Host, Base: strings.TrimRight(u.EscapedPath(), "/")}, nil
}
