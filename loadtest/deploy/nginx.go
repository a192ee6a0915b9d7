package deploy

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"starling/nginx"
)

// FindNginx gives the path of nginx.
func FindNginx() (string, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // where Debian has it, outside an ordinary PATH
		_, err = os.Stat(program)
	}
	return program, err
}

// StartNginx starts nginx before the instances, each a host:port, and waits
// until it listens. It gives the FHIR base.
func (g *Group) StartNginx(instances []string) (url string, process *Process, err error) {
	program, err := FindNginx()
	if err != nil {
		return "", nil, err
	}
	dir, err := g.folder("nginx")
	if err != nil {
		return "", nil, err
	}
	// As root, nginx runs its workers under another account, which must get here.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", nil, err
	}
	address, err := FreeAddress()
	if err != nil {
		return "", nil, err
	}
	config, err := nginx.Config{Listen: address, Instances: instances, Workers: "1", Directory: dir}.Render()
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, config, 0o644); err != nil {
		return "", nil, err
	}
	process, err = g.Run(exec.Command(program, "-p", dir, "-c", path, "-e", filepath.Join(g.Logs, "nginx-error.log")), "nginx")
	if err != nil {
		return "", nil, err
	}
	err = process.await(func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}, g.Logs)
	return "http://" + address + "/fhir", process, err
}
