package rest

import (
	"net/http"
	"strings"
)

// hop is what one proxy said of the request it received.
type hop struct{ peer, scheme, host string }

// origin gives the scheme and host the client used, as the trusted proxies
// before this server report them. Each proxy adds to the right; the walk goes
// from there to the left, as long as the hop's peer is a trusted proxy, too.
func (p Proxies) origin(header http.Header, scheme, host string) (string, string) {
	hops := parseForwarded(header["Forwarded"])
	if len(hops) == 0 {
		hops = parseXForwarded(header)
	}
	for i := len(hops) - 1; i >= 0; i-- {
		if s := strings.ToLower(hops[i].scheme); s == "http" || s == "https" {
			scheme = s
		}
		if isHost(hops[i].host) {
			host = hops[i].host
		}
		if !p.trust(hops[i].peer) {
			break
		}
	}
	return scheme, host
}

// parseForwarded reads the headers of RFC 7239.
func parseForwarded(headers []string) []hop {
	var hops []hop
	for _, header := range headers {
		for element := range elements(header, ',') {
			var h hop
			for pair := range elements(element, ';') {
				name, value, _ := strings.Cut(pair, "=")
				value = unquote(strings.TrimSpace(value))
				switch strings.ToLower(strings.TrimSpace(name)) {
				case "for":
					h.peer = value
				case "proto":
					h.scheme = value
				case "host":
					h.host = value
				}
			}
			hops = append(hops, h)
		}
	}
	return hops
}

// parseXForwarded reads X-Forwarded-For, -Proto, -Host and -Port. Proxies
// usually replace proto and host and append to for, so the lists are aligned
// at their right ends.
func parseXForwarded(header http.Header) []hop {
	peers := list(header["X-Forwarded-For"])
	schemes := list(header["X-Forwarded-Proto"])
	hosts := list(header["X-Forwarded-Host"])
	hops := make([]hop, max(len(peers), len(schemes), len(hosts)))
	for i := range hops {
		hops[i] = hop{fromRight(peers, len(hops)-1-i), fromRight(schemes, len(hops)-1-i), fromRight(hosts, len(hops)-1-i)}
	}
	if ports := list(header["X-Forwarded-Port"]); len(hops) > 0 && len(ports) > 0 {
		hops[len(hops)-1].addPort(ports[len(ports)-1])
	}
	return hops
}

// addPort completes a host named without its port, where that is not the
// scheme's own.
func (h *hop) addPort(port string) {
	usual := h.scheme == "https" && port == "443" || h.scheme == "http" && port == "80"
	if h.host != "" && !strings.Contains(h.host[strings.LastIndexByte(h.host, ']')+1:], ":") && !usual {
		h.host += ":" + port
	}
}

func list(headers []string) []string {
	var all []string
	for _, header := range headers {
		for element := range elements(header, ',') {
			all = append(all, element)
		}
	}
	return all
}

func fromRight(values []string, n int) string {
	if n < len(values) {
		return values[len(values)-1-n]
	}
	return ""
}

// isHost reports whether s can stand as the authority of a URL. It goes into
// links, so nothing else is let through.
func isHost(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '.', c == '-', c == ':', c == '[', c == ']', c == '_':
		default:
			return false
		}
	}
	return s != ""
}
