package matrix

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"starling/nginx"
)

// startNginx starts nginx before the instances and waits until it listens.
func (p *processes) startNginx(instances []string) (url string, pid int, err error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // where Debian has it, outside an ordinary PATH
	}
	dir, err := os.MkdirTemp("", "nginx-")
	if err != nil {
		return "", 0, err
	}
	p.undo = append(p.undo, func() error { return os.RemoveAll(dir) })
	// As root, nginx runs its workers under another account, which must get here.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", 0, err
	}
	address, err := freeAddress()
	if err != nil {
		return "", 0, err
	}
	config, err := nginx.Config{Listen: address, Instances: instances, Workers: "1", Directory: dir}.Render()
	if err != nil {
		return "", 0, err
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, config, 0o644); err != nil {
		return "", 0, err
	}
	command := exec.Command(program, "-p", dir, "-c", path, "-e", filepath.Join(p.executor.Logs, "nginx-error.log"))
	ended, err := p.run(command, "nginx")
	if err != nil {
		return "", 0, err
	}
	for deadline := time.Now().Add(readyTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return "", 0, fmt.Errorf("nginx ended: see its log in %s", p.executor.Logs)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address + "/fhir", command.Process.Pid, nil
		}
	}
	return "", 0, fmt.Errorf("nginx does not listen after %v", readyTimeout)
}
