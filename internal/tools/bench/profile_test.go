package main

import (
	"maps"
	"strings"
	"testing"
)

func TestReadSamples(t *testing.T) {
	shares, err := readSamples(strings.NewReader(`
fhir-server 
	ffffffff8 __x64_sys_write ([kernel.kallsyms])
	    4a8b2 starling/internal/postgres.(*pipeline).flush (/x/fhir-server)
	    4a8b2 starling/internal/interaction.(*Service).Create (/x/fhir-server)

fhir-server 
	    4a8b2 runtime.scanobject (/x/fhir-server)
	    4a8b2 runtime.gcBgMarkWorker.func2 (/x/fhir-server)

postgres 
	ffffffff8 __x64_sys_fdatasync ([kernel.kallsyms])

swapper 
	ffffffff8 cpuidle_enter ([kernel.kallsyms])

nginx 
	    12345 ngx_http_parse_header_line (/usr/sbin/nginx)
`))
	want := map[string]float64{
		"share of server": 50, "share of postgresql": 25, "share of nginx": 25,
		"share in server: writing and reading statements": 50,
		"share in server: garbage collector":              50,
		"share in postgresql: fdatasync":                  100,
		"share in nginx: its own code and libc's":         100,
	}
	if err != nil || !maps.Equal(shares, want) {
		t.Fatalf("%v %v", shares, err)
	}
}

func TestKind(t *testing.T) {
	for query, want := range map[string]string{
		"COMMIT": "COMMIT",
		"INSERT INTO search_key (hash, rid) SELECT":                                        "INSERT search_key",
		"DELETE FROM search_key s USING unnest":                                            "DELETE search_key",
		"UPDATE resource r\nSET version":                                                   "UPDATE resource",
		"SELECT k.ord FROM unnest($1) AS k JOIN resource r ON true FOR NO KEY UPDATE OF r": "SELECT … FOR NO KEY UPDATE resource",
		"SELECT k.ord FROM unnest($1) AS k JOIN resource r ON true":                        "SELECT resource",
		"SELECT now()": "SELECT",
	} {
		if got := kind(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
