package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// A run that nobody answers ends before its minutes have begun.
func TestCRUDNeedsAServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c := &crudCommand{Target: []string{"http://" + address + "/fhir"}, VUs: 37, WarmUp: time.Minute, Duration: time.Minute}
	if err := c.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "no server at "+address+" (name it with --target)") {
		t.Errorf("%v", err)
	}
}

func TestCRUDSaysWhatItRuns(t *testing.T) {
	c := &crudCommand{Target: []string{"http://a/fhir", "http://b/fhir"}, VUs: 37, WarmUp: 30 * time.Second, Duration: 5 * time.Minute, CoolDown: time.Minute}
	if got, want := c.describe(), "37 virtual users against http://a/fhir, http://b/fhir, 5m0s, with warm-up and cool-down 6m30s"; got != want {
		t.Errorf("%s", got)
	}
	c.Iterations = 10
	if got, want := c.describe(), "37 virtual users against http://a/fhir, http://b/fhir, 10 iterations"; got != want {
		t.Errorf("%s", got)
	}
}
