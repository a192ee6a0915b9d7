package tcpproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo answers every line with itself, after a mark.
func echo(t *testing.T, mark string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if _, err := io.WriteString(conn, mark+lines.Text()+"\n"); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

type client struct {
	net.Conn
	*bufio.Reader
}

func dial(t *testing.T, p *Proxy) *client {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{conn, bufio.NewReader(conn)}
}

// ask sends a line and reads one, within a time.
func (c *client) ask(line string, within time.Duration) (string, error) {
	if line != "" {
		if _, err := io.WriteString(c.Conn, line+"\n"); err != nil {
			return "", err
		}
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(within))
	return c.Reader.ReadString('\n')
}

const patience = 10 * time.Second

func TestProxy(t *testing.T) {
	p, err := New(echo(t, "a:"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := dial(t, p)
	if got, err := c.ask("1", patience); err != nil || got != "a:1\n" {
		t.Fatalf("%q, %v", got, err)
	}

	p.Delay(50 * time.Millisecond)
	begun := time.Now()
	if got, err := c.ask("2", patience); err != nil || got != "a:2\n" || time.Since(begun) < 100*time.Millisecond {
		t.Errorf("%q, %v, after %v", got, err, time.Since(begun))
	}
	p.Delay(0)

	p.Hold()
	another := dial(t, p) // is let in, and hears nothing
	for _, held := range []*client{c, another} {
		if got, err := held.ask("3", 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("held: %q, %v", got, err)
		}
	}
	p.Release()
	for _, released := range []*client{c, another} {
		if got, err := released.ask("", patience); err != nil || got != "a:3\n" {
			t.Errorf("released: %q, %v", got, err)
		}
	}

	p.To(echo(t, "b:"))
	if got, err := c.ask("4", patience); err != nil || got != "a:4\n" {
		t.Errorf("a connection that was there: %q, %v", got, err)
	}
	if got, err := dial(t, p).ask("4", patience); err != nil || got != "b:4\n" {
		t.Errorf("a new connection: %q, %v", got, err)
	}

	p.Hold()
	_, _ = io.WriteString(c.Conn, "5\n")
	p.Reset()
	if got, err := c.ask("", patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reset: %q, %v", got, err)
	}
}
