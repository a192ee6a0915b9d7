// Package nginx writes the configuration of the nginx that stands before
// several instances of the server. The reasons are in nginx.conf.template, line
// by line.
package nginx

import (
	"bytes"
	_ "embed"
	"errors"
	"text/template"
)

//go:embed nginx.conf.template
var text string

var parsed = template.Must(template.New("nginx.conf").Parse(text))

// Config is what differs between one place and another.
type Config struct {
	Listen    string   // address or port
	Instances []string // host:port of each; a name may stand for several addresses
	Workers   string   // worker_processes: a number or auto
	// Directory, if not empty, is where nginx keeps its pid, its log and its
	// temporary files, so that it runs under any account.
	Directory string
}

// Render gives the configuration file.
func (c Config) Render() ([]byte, error) {
	if c.Listen == "" || c.Workers == "" || len(c.Instances) == 0 {
		return nil, errors.New("nginx needs an address, a number of workers and at least one instance")
	}
	var out bytes.Buffer
	err := parsed.Execute(&out, c)
	return out.Bytes(), err
}
