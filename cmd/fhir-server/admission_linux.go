package main

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// dropNew is a socket filter, run on what arrives from its TCP header on: a
// packet that begins a connection (SYN without ACK) is dropped, all others pass.
// The client's kernel sends it again, or the client turns elsewhere; it has sent
// nothing yet, so either loses nothing.
var dropNew = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13}, // the flags
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jt: 0, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
}

// refuseNew makes a listener take no further connections, while those the kernel
// has taken can still be accepted: closing it would reset them, with the requests
// they carry.
func refuseNew(listener net.Listener) error {
	return withSocket(listener, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(dropNew)), Filter: &dropNew[0]})
	})
}

// admitNew undoes refuseNew, also where that was not permitted.
func admitNew(listener net.Listener) error {
	return withSocket(listener, func(fd int) error {
		err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil // there is no filter
		}
		return err
	})
}

// handshake is longer than a connection takes to be made whose first packet came
// before refuseNew; accepting is how long the queue may take to empty.
const (
	handshake = 50 * time.Millisecond
	accepting = 2 * time.Second
)

// awaitAccepted waits until every connection the kernel has taken is accepted.
func awaitAccepted(listener net.Listener) {
	time.Sleep(handshake)
	for end := time.Now().Add(accepting); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var queued uint32
		if err := withSocket(listener, func(fd int) error {
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err == nil {
				queued = info.Unacked // of a listener: connections not accepted
			}
			return err
		}); err != nil || queued == 0 {
			return
		}
	}
}

func withSocket(listener net.Listener, do func(fd int) error) error {
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}
