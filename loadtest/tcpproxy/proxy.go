// Package tcpproxy stands between a program and its database and does to their
// connections what networks do: it delays them, holds them without a word, and
// resets them.
package tcpproxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy passes connections on. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	pipes    sync.WaitGroup

	mu     sync.Mutex
	target string
	delay  time.Duration
	held   chan struct{} // nil if nothing is held; closed when it is released
	conns  map[*pipe]struct{}
	closed bool
}

// pipe is a connection that is passed on.
type pipe struct {
	client, server net.Conn // server is nil while it is not connected
	gone           chan struct{}
	once           sync.Once
}

// New listens on a free port of 127.0.0.1 and passes on to the target.
func New(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, conns: map[*pipe]struct{}{}}
	p.pipes.Go(p.accept)
	return p, nil
}

// Address is its host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends it and all connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Reset()
	p.pipes.Wait()
	return err
}

// To has new connections go to another target. The others stay.
func (p *Proxy) To(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Delay has each piece of data wait, in both directions. 0 ends it.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Hold keeps all data back, in both directions, and lets nobody know: connections
// stay open, new ones too, and closing one is not told to the other end.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
}

// Release lets go what is held. It arrives late, in order.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
}

// Reset ends all connections with a reset; what is held is lost.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.reset()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		c := &pipe{client: client, gone: make(chan struct{})}
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			client.Close()
			return
		}
		p.conns[c] = struct{}{}
		p.mu.Unlock()
		p.pipes.Go(func() { p.pass(c) })
	}
}

// gate waits until a piece of data may go on; false if its connection is gone.
func (p *Proxy) gate(c *pipe) bool {
	p.mu.Lock()
	held, delay := p.held, p.delay
	p.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-c.gone:
			return false
		}
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-c.gone:
			return false
		}
	}
	return true
}

const dialTimeout = 5 * time.Second

func (p *Proxy) pass(c *pipe) {
	defer func() {
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
		c.reset()
	}()
	if !p.gate(c) {
		return
	}
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.DialTimeout("tcp", target, dialTimeout)
	if err != nil {
		return
	}
	p.mu.Lock()
	c.server = server
	p.mu.Unlock()
	select {
	case <-c.gone: // reset meanwhile
		server.Close()
		return
	default:
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(c, server, c.client) })
	both.Go(func() { p.copy(c, c.client, server) })
	both.Wait()
}

// copy passes data on until its end, and the end, too.
func (p *Proxy) copy(c *pipe, to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.gate(c) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				c.reset()
				return
			}
		}
		if err != nil {
			if !p.gate(c) {
				return
			}
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			return
		}
	}
}

// reset closes both ends at once, without the data still to be sent.
func (c *pipe) reset() {
	c.once.Do(func() {
		close(c.gone)
		for _, conn := range []net.Conn{c.client, c.server} {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		}
	})
}
