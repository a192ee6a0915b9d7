package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// parse gives the flags of serve, or the error.
func parse(t *testing.T, arguments ...string) (*serveCommand, error) {
	t.Helper()
	p := &program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	if err := p.parseFlags(append([]string{"serve"}, arguments...)); err != nil {
		return nil, err
	}
	command, ok := p.command.Selected().Target.Addr().Interface().(*serveCommand)
	if !ok {
		t.Fatalf("selected %T", p.command.Selected().Target.Interface())
	}
	return command, nil
}

func TestDefaults(t *testing.T) {
	c, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"listen": {c.Listen, "127.0.0.1:8080"}, "admin-listen": {c.AdminListen, "127.0.0.1:9464"}, "base-url": {c.BaseURL, ""},
		"database-url": {c.DatabaseURL, ""}, "data-dir": {c.DataDir, "./data"}, "cache-sync": {c.CacheSync, "notify"},
		"cache-lease": {c.CacheLease, 2 * time.Second}, "search-timeout": {c.SearchTimeout, 10 * time.Second}, "validation": {c.Validation, "full"}, "text-search": {c.TextSearch, "narrative"},
		"subscription-allow-private": {c.SubscriptionAllowPrivate, false},
	} {
		if pair[0] != pair[1] {
			t.Errorf("--%s is %v by default, want %v", name, pair[0], pair[1])
		}
	}
}

func TestEveryFlagHasItsVariable(t *testing.T) {
	for variable, value := range map[string]string{
		"FHIR_LISTEN": "127.0.0.1:1", "FHIR_ADMIN_LISTEN": "127.0.0.1:2", "FHIR_BASE_URL": "https://example.org/fhir/",
		"FHIR_DATABASE_URL": "postgres://x", "FHIR_DATA_DIR": "/d", "FHIR_CACHE_SYNC": "poll", "FHIR_CACHE_LEASE": "5s",
		"FHIR_VALIDATION": "off", "FHIR_SUBSCRIPTION_ALLOW_PRIVATE": "true", "FHIR_AUTH": "none",
		"FHIR_SEARCH_TIMEOUT": "3s",
	} {
		t.Setenv(variable, value)
	}
	c, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.Listen, c.AdminListen, c.baseURL(), c.DatabaseURL, c.DataDir, c.CacheSync, c.CacheLease, c.Validation, c.SubscriptionAllowPrivate, c.Auth, c.SearchTimeout}
	want := []any{"127.0.0.1:1", "127.0.0.1:2", "https://example.org/fhir", "postgres://x", "/d", "poll", 5 * time.Second, "off", true, "none", 3 * time.Second}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A flag given beats the variable.
	if c, err := parse(t, "--cache-sync=off"); err != nil || c.CacheSync != "off" {
		t.Errorf("%v %v", c, err)
	}
	// Flags the design does not fix have one, too.
	for _, node := range flagsOf(t) {
		if want := "FHIR_" + strings.ToUpper(strings.ReplaceAll(node, "-", "_")); !strings.Contains(helpText(t), "$"+want) {
			t.Errorf("--%s has no variable %s", node, want)
		}
	}
}

func helpText(t *testing.T) string {
	t.Helper()
	out := &bytes.Buffer{}
	p := &program{stdout: out, stderr: out}
	if err := p.parseFlags([]string{"serve", "--help"}); err != errHelp {
		t.Fatalf("--help gave %v", err)
	}
	return out.String()
}

// flagsOf lists the flags of serve, without --help.
func flagsOf(t *testing.T) []string {
	t.Helper()
	p := &program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	if err := p.parseFlags([]string{"serve"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, flag := range p.command.Selected().Flags {
		if flag.Name != "help" {
			names = append(names, flag.Name)
		}
	}
	if len(names) < 10 {
		t.Fatalf("only %v", names)
	}
	return names
}

func TestRefusedFlags(t *testing.T) {
	for argument, says := range map[string]string{
		"--listen=0.0.0.0:8080":             "--auth",
		"--listen=:8080":                    "--auth",
		"--listen=[::]:8080":                "--auth",
		"--listen=192.168.1.1:8080":         "--auth",
		"--listen=example.org:8080":         "--auth",
		"--listen=8080":                     "HOST:PORT",
		"--auth=basic":                      "--auth",
		"--database-url=mysql://host/x":     "--database-url must be like postgres://",
		"--database-url=user:pw@host/x":     "--database-url must be like postgres://user:password@host/name",
		"--cache-sync=redis":                "notify",
		"--cache-poll-interval=1ms":         "--cache-poll-interval",
		"--cache-poll-interval=0s":          "--cache-poll-interval",
		"--cache-poll-interval=1h":          "--cache-poll-interval must be between 10ms and 500ms (a quarter of --cache-lease), not 1h0m0s",
		"--cache-lease=0s":                  "--cache-lease",
		"--cache-lease=2":                   "cache-lease",
		"--validation=some":                 "full",
		"--base-url=example.org/fhir":       "--base-url",
		"--base-url=ftp://example.org/fhir": "--base-url",
		"--base-url=http://example.org?x=y": "--base-url",
		"--trusted-proxies=10.0.0.1":        "--trusted-proxies",
		"--trusted-proxies=anyone":          "--trusted-proxies",
		"--max-body=0":                      "--max-body",
		"--bodies-in-work=1000":             "--bodies-in-work",
		"--request-timeout=0s":              "--request-timeout",
		"--drain-delay=-1s":                 "--drain-delay",
		"--database-connections=1":          "--database-connections",
		"--unheard-of":                      "unheard-of",
	} {
		if _, err := parse(t, argument); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", argument, err)
		}
	}
	for _, arguments := range [][]string{
		{"--listen=0.0.0.0:8080", "--auth=none"},
		{"--listen=localhost:8080"},
		{"--listen=[::1]:0"},
		{"--listen=127.0.0.2:80"},
		{"--trusted-proxies=private,198.51.100.0/24"},
		{"--trusted-proxies=none"},
		{"--admin-listen="},
		{"--database-url=host=/tmp dbname=x"},
		{"--cache-lease=100ms"}, // the poll interval that is not given is then less
		{"--cache-lease=1h", "--cache-poll-interval=15m"},
	} {
		if _, err := parse(t, arguments...); err != nil {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

// Addresses that are in use are told by the flag that names them.
func TestAddressInUse(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	taken := strings.TrimSuffix(strings.TrimPrefix(r.base, "http://"), "/fhir")
	for _, flag := range []string{"--listen", "--admin-listen"} {
		out := &bytes.Buffer{}
		p := &program{stdout: out, stderr: out}
		arguments := []string{"serve", "--listen=127.0.0.1:0", "--admin-listen=", "--data-dir=" + t.TempDir(), flag + "=" + taken}
		if err := p.parseFlags(arguments); err != nil {
			t.Fatal(err)
		}
		if err := p.run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), flag+": listen tcp "+taken) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestRefusedFlagsOfLoad(t *testing.T) {
	for argument, says := range map[string]string{
		"--package-registry=foo":   `--package-registry must be a URL such as https://packages.fhir.org, not "foo"`,
		"--package-dir=/nonexist":  `--package-dir: there is no folder "/nonexist"`,
		"--database-url=http://db": "--database-url must be like postgres://",
	} {
		out := &bytes.Buffer{}
		if err := (&program{stdout: out, stderr: out}).parseFlags([]string{"load", argument, "x.json"}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", argument, err)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	out := &bytes.Buffer{}
	if err := (&program{stdout: out, stderr: out}).parseFlags([]string{"--version"}); err != errHelp || out.String() != versionLine()+"\n" {
		t.Errorf("%q, %v", out, err)
	}
}
