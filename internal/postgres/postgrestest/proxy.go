package postgrestest

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Proxy stands between a client and a server. Held, it keeps its connections and
// takes new ones, but passes nothing on: to both sides they look alive.
type Proxy struct {
	// URL leads to the database through the proxy.
	URL string

	mu   sync.Mutex
	free chan struct{} // closed while what comes is passed on
}

// NewProxy puts a proxy before the database of a URL.
func NewProxy(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{free: make(chan struct{})}
	close(p.free)
	user := url.User(config.User)
	if config.Password != "" {
		user = url.UserPassword(config.User, config.Password)
	}
	p.URL = (&url.URL{Scheme: "postgres", User: user, Host: listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}).String()
	network, address := "tcp", net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	if config.Host[0] == '/' {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	ended := make(chan struct{})
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			connections.Go(func() { p.pass(server, client, ended) })
			connections.Go(func() { p.pass(client, server, ended) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		close(ended)
		p.Release()
		connections.Wait()
	})
	return p
}

// Hold stops the passing on.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = make(chan struct{})
}

// Release goes on with it.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.free:
	default:
		close(p.free)
	}
}

func (p *Proxy) pass(to, from net.Conn, ended chan struct{}) {
	defer to.Close()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-ended:
			_ = from.Close()
		case <-done:
		}
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		free := p.free
		p.mu.Unlock()
		<-free
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				_ = from.Close()
			}
			return
		}
	}
}
