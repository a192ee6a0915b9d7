package cluster

import (
	"encoding/json"
	"regexp"
	"testing"

	"starling/internal/postgres/postgrestest"
	"starling/test/program"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// location finds the resource in a Location header.
var location = regexp.MustCompile(`/([A-Za-z]+/[A-Za-z0-9.-]{1,64})/_history/\d+$`)

// cluster is two servers behind nginx.
type cluster struct {
	database string
	base     string // FHIR base, through nginx
	servers  []*program.Server
	admin    []string // host:port of each one's metrics
	flags    []string // of each one
}

func start(t *testing.T, flags ...string) *cluster {
	t.Helper()
	return startOn(t, program.Database(t), flags...)
}

// startOn starts the servers over the database of a URL.
func startOn(t *testing.T, database string, flags ...string) *cluster {
	t.Helper()
	c := &cluster{database: database, servers: make([]*program.Server, 2), flags: flags}
	for i := range c.servers {
		c.admin = append(c.admin, program.FreeAddress(t))
		c.run(t, i)
	}
	c.base = program.Nginx(t, c.servers[0].Address(), c.servers[1].Address()) + "/fhir"
	return c
}

// run starts an instance, at the address it had before if it is one that ended.
func (c *cluster) run(t *testing.T, i int) {
	t.Helper()
	args := append([]string{"--database-url", c.database, "--admin-listen", c.admin[i]}, c.flags...)
	if c.servers[i] != nil {
		args = append(args, "--listen", c.servers[i].Address())
	}
	c.servers[i] = program.Start(t, args...)
}

func decode(t testing.TB, text []byte) (tree map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return tree
}
