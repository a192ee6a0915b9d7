package main

import (
	"net"
	"testing"
)

// TestAdmitWithoutFilter: where the kernel permits no filter, a server starts
// all the same.
func TestAdmitWithoutFilter(t *testing.T) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	listener, err := plain.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if err := admitNew(listener); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
