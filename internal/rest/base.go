package rest

import (
	"net/netip"
	"strings"
	"sync/atomic"
)

// BasePath is where the API stands.
const BasePath = "/fhir"

// bases finds the base URL that absolute links begin with.
type bases struct {
	fixed   string // the setting; "" to go by the request
	proxies Proxies
	// last is the base of the request before: clients come by few names, and
	// this spares most requests making the text again.
	last atomic.Pointer[base]
}

type base struct{ scheme, host, url string }

// of gives the base URL without a trailing slash.
func (b *bases) of(in *incoming) string {
	if b.fixed != "" {
		return b.fixed
	}
	scheme, host := "http", in.Host
	if in.TLS {
		scheme = "https"
	}
	if forwarded(in) && b.proxies.trust(in.Peer) {
		scheme, host = b.proxies.origin(in.Header, scheme, host)
	}
	if last := b.last.Load(); last != nil && last.scheme == scheme && last.host == host {
		return last.url
	}
	made := &base{scheme, host, scheme + "://" + host + BasePath}
	b.last.Store(made)
	return made.url
}

func forwarded(in *incoming) bool {
	return len(in.Header["Forwarded"]) > 0 || len(in.Header["X-Forwarded-Proto"]) > 0 || len(in.Header["X-Forwarded-Host"]) > 0
}

// Proxies are the networks whose Forwarded and X-Forwarded-* headers are
// believed.
type Proxies []netip.Prefix

// trust reports whether address, with or without a port, is a trusted proxy.
func (p Proxies) trust(address string) bool {
	address = strings.TrimSpace(address)
	ip, err := netip.ParseAddr(strings.Trim(address, "[]"))
	if err != nil {
		both, err := netip.ParseAddrPort(address)
		if err != nil {
			return false
		}
		ip = both.Addr()
	}
	ip = ip.Unmap().WithZone("")
	for _, network := range p {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
