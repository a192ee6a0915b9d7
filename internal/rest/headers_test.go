package rest

import (
	"net/http"
	"strings"
	"testing"

	"starling/internal/interaction"
)

func TestCrossOrigin(t *testing.T) {
	h := newHarness(t)
	answer := h.do("GET", "/fhir/Patient/1", "", "Origin: https://app.example")
	if answer.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", answer.Header())
	}
	for _, name := range []string{"ETag", "Location", "Content-Location", "Last-Modified", "X-Request-Id"} {
		if !strings.Contains(answer.Header().Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("%s is not exposed", name)
		}
	}
	answer = h.do("OPTIONS", "/fhir/Patient/1", "", "Origin: https://app.example", "Access-Control-Request-Method: PUT",
		"Access-Control-Request-Headers: content-type, if-match, prefer")
	if answer.Code != 204 || !strings.Contains(answer.Header().Get("Access-Control-Allow-Methods"), "PUT") ||
		!strings.Contains(answer.Header().Get("Access-Control-Allow-Headers"), "If-Match") {
		t.Errorf("preflight %d %v", answer.Code, answer.Header())
	}
	if answer := h.do("GET", "/fhir/a/b/c", "", "Origin: https://app.example"); answer.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error("a browser cannot read the outcome")
	}
	if h.do("GET", "/fhir/Patient/1", "").Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("answered without Origin")
	}
}

func TestRequestID(t *testing.T) {
	h := newHarness(t)
	for sent, echoed := range map[string]bool{
		"abc-123": true, "7f0e.a/b:c": true, strings.Repeat("x", 128): true,
		"": false, "with space": false, strings.Repeat("x", 129): false, "b\u00e9": false,
	} {
		got := h.do("GET", "/fhir/Patient/1", "", "X-Request-Id: "+sent).Header().Get("X-Request-Id")
		if (got == sent) != echoed || got == "" {
			t.Errorf("%q answered with %q", sent, got)
		}
	}
	first := h.do("GET", "/fhir/Patient/1", "").Header().Get("X-Request-Id")
	if second := h.do("GET", "/fhir/Patient/1", "").Header().Get("X-Request-Id"); first == second {
		t.Errorf("%q twice", first)
	}
	if h.do("GET", "/fhir/a/b/c", "", "X-Request-Id: abc").Header().Get("X-Request-Id") != "abc" {
		t.Error("not on failures")
	}
}

func TestBase(t *testing.T) {
	// httptest's requests come from 192.0.2.1, which the harness trusts.
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"plain", nil, "http://example.org/fhir"},
		{"host", []string{"Host: a.example:8443"}, "http://a.example:8443/fhir"},
		{"forwarded", []string{`Forwarded: for=198.51.100.1;proto=https;host="f.example:8443"`}, "https://f.example:8443/fhir"},
		{"proto alone", []string{"X-Forwarded-Proto: https"}, "https://example.org/fhir"},
		{"x-forwarded", []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: x.example"}, "https://x.example/fhir"},
		{"port", []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: x.example", "X-Forwarded-Port: 8443"}, "https://x.example:8443/fhir"},
		{"usual port", []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: x.example", "X-Forwarded-Port: 443"}, "https://x.example/fhir"},
		{"nonsense", []string{`X-Forwarded-Host: a"b/c`, "X-Forwarded-Proto: javascript"}, "http://example.org/fhir"},
		{"forged before the proxy", []string{"Forwarded: for=203.0.113.5;host=evil.example", "Forwarded: for=198.51.100.1;host=real.example"}, "http://real.example/fhir"},
		{"two trusted hops", []string{"Forwarded: for=198.51.100.1;host=real.example;proto=https, for=192.0.2.9;host=inner;proto=http"}, "https://real.example/fhir"},
		{"forged list", []string{"X-Forwarded-For: 203.0.113.5, 198.51.100.1", "X-Forwarded-Host: evil.example, real.example"}, "http://real.example/fhir"},
		{"IPv6", []string{`Forwarded: for="[2001:db8::1]:4711";host="[2001:db8::2]:80"`}, "http://[2001:db8::2]:80/fhir"},
	} {
		h := newHarness(t)
		if answer := h.do("GET", "/fhir/Patient/1", "", c.headers...); answer.Code != 200 || h.got.Base != c.want {
			t.Errorf("%s: %q, want %q", c.name, h.got.Base, c.want)
		}
		untrusting := newHarness(t, func(c *Config) { c.Proxies = nil })
		untrusting.do("GET", "/fhir/Patient/1", "", c.headers...)
		if got := untrusting.got.Base; got != "http://example.org/fhir" && c.name != "host" {
			t.Errorf("%s: an untrusted peer made it %q", c.name, got)
		}
		fixed := newHarness(t, func(c *Config) { c.BaseURL = "https://fixed.example/r4" })
		fixed.do("GET", "/fhir/Patient/1", "", c.headers...)
		if got := fixed.got.Base; got != "https://fixed.example/r4" {
			t.Errorf("%s: the setting became %q", c.name, got)
		}
	}
}

func TestBaseFollowsEachRequest(t *testing.T) {
	h := newHarness(t)
	for _, host := range []string{"a.example", "b.example", "a.example"} {
		h.do("GET", "/fhir/Patient/1", "", "Host: "+host)
		if h.got.Base != "http://"+host+"/fhir" {
			t.Errorf("%s: %s", host, h.got.Base)
		}
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add(`for=1.2.3.4;proto=https;host="a:1"`, "1.2.3.4, 5.6.7.8", "a.example", "8443")
	f.Add(`host="a\"b"`, "", "[::1]", "")
	f.Fuzz(func(t *testing.T, forwarded, peers, hosts, ports string) {
		header := http.Header{"Forwarded": {forwarded}, "X-Forwarded-For": {peers}, "X-Forwarded-Host": {hosts}, "X-Forwarded-Port": {ports}}
		for _, drop := range []string{"", "Forwarded"} {
			delete(header, drop)
			scheme, host := Proxies{mustPrefix("0.0.0.0/0")}.origin(header, "http", "example.org")
			if scheme != "http" && scheme != "https" || !isHost(host) {
				t.Fatalf("%q %q", scheme, host)
			}
		}
	})
}

func FuzzPrefer(f *testing.F) {
	f.Add("return=minimal; handling=strict, respond-async")
	f.Add(`return="representation",,;=`)
	f.Fuzz(func(t *testing.T, header string) {
		returns, handling, _ := preferences([]string{header})
		if handling != interaction.HandlingStrict && handling != interaction.HandlingLenient {
			t.Fatalf("handling %q", handling)
		}
		if returns != "" && returnOf(string(returns)) != returns {
			t.Fatalf("return %q", returns)
		}
	})
}
