// Package compose runs compose/ for real: PostgreSQL, two servers and nginx as
// containers.
package compose

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"starling/test/program"
)

const file = "../../compose/compose.yaml"

// TestTwoInstances puts the containers up, and stops one of the two servers while
// requests come in: none fails.
func TestTwoInstances(t *testing.T) {
	compose, environment := tools(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	environment = append(environment, "PORT="+port, "INSTANCES=2", "CORES=0.5")
	run := func(args ...string) (string, error) {
		command := exec.Command(compose[0], append(append(compose[1:], "-p", "starling-test", "-f", file), args...)...)
		command.Env = append(os.Environ(), environment...)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := run("logs", "--tail=30")
			t.Log(out)
		}
		if out, err := run("down", "--volumes", "--timeout", "20"); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	if out, err := run("up", "-d"); err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}
	base := "http://127.0.0.1:" + port + "/fhir"
	await(t, base)

	created := program.Want(t, http.StatusCreated, "POST", base+"/Patient", []byte(`{"resourceType":"Patient","active":true}`))
	location := created.Header.Get("Location")
	if !strings.HasPrefix(location, base+"/Patient/") {
		t.Errorf("Location %q is not where the client sees the server, %s", location, base)
	}
	ids, err := run("ps", "-q", "server")
	if err != nil || len(strings.Fields(ids)) != 2 {
		t.Fatalf("two servers should run: %v %q", err, ids)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- exec.Command("docker", "stop", "--time", "40", strings.Fields(ids)[0]).Run() }()
	failed, answered := 0, 0
	for done := false; !done || answered < 20; {
		select {
		case err := <-stopped:
			if err != nil {
				t.Error(err)
			}
			done = true
		default:
		}
		if answer, err := program.Do("GET", location, nil); err != nil || answer.Status != http.StatusOK {
			failed++
			t.Logf("%v, status %d: %.200s", err, answer.Status, answer.Body)
		}
		answered++
	}
	if failed > 0 {
		t.Errorf("%d of %d reads failed while one server of two was stopped", failed, answered)
	}
}

// tools gives the compose command and the images to use, and skips the test
// where one is missing: the airgapped images, if they have been built.
func tools(t *testing.T) (compose, environment []string) {
	t.Helper()
	if out, err := exec.Command("docker", "info").CombinedOutput(); err != nil {
		t.Skipf("no container engine runs here: %.200s", out)
	}
	switch {
	case exec.Command("docker", "compose", "version").Run() == nil:
		compose = []string{"docker", "compose"}
	case exec.Command("docker-compose", "version").Run() == nil:
		compose = []string{"docker-compose"}
	default:
		t.Skip("neither docker compose nor docker-compose is installed here")
	}
	text, err := os.ReadFile("../../compose/airgapped/images.env")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		setting := strings.TrimSpace(line)
		_, image, _ := strings.Cut(setting, "=")
		if exec.Command("docker", "image", "inspect", image).Run() != nil {
			t.Skipf("the image %s is not here: compose/airgapped/build makes it", image)
		}
		environment = append(environment, setting)
	}
	// The images may be of an older program.
	if out, err := exec.Command("../../compose/airgapped/build").CombinedOutput(); err != nil {
		t.Fatalf("compose/airgapped/build: %v\n%s", err, out)
	}
	return compose, environment
}

func await(t *testing.T, base string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		answer, err := program.Do("GET", base+"/metadata?_summary=true", nil)
		if err == nil && answer.Status == http.StatusOK {
			return
		}
		last = fmt.Sprintf("%v, status %d: %.200s", err, answer.Status, answer.Body)
	}
	t.Fatalf("no answer within two minutes: %s", last)
}
