package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// slow begins a create whose body is not complete until finish is called; done
// gets the answer.
func (r *running) slow(t *testing.T) (finish func(), done chan answer) {
	t.Helper()
	reader, writer := io.Pipe()
	request, err := http.NewRequest("POST", r.base+"/Patient", reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	done = make(chan answer, 1)
	go func() {
		defer close(done)
		response, err := client.Do(request)
		if err != nil {
			t.Errorf("the request in flight was broken off: %v", err)
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		done <- answer{response, body}
	}()
	if _, err := writer.Write([]byte(`{"resourceType":"Patient"`)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := writer.Write([]byte(`}`)); err != nil {
			t.Error(err)
		}
		_ = writer.Close()
	}, done
}

func status(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within ten seconds", what)
}

func TestDrainFinishesRequestsInFlight(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--drain-delay=300ms", "--drain-timeout=20s")
	ready := "http://" + strings.Split(r.base, "/")[2] + "/readyz"
	if status(ready) != 200 || status("http://"+r.admin+"/readyz") != 200 {
		t.Fatal("not ready to begin with")
	}
	finish, done := r.slow(t)
	eventually(t, "the request is in flight", func() bool { return strings.Contains(metrics(t, r), "starling_requests_in_flight 1") })

	r.stop()
	eventually(t, "unready on the API's address", func() bool { return status(ready) == 503 })
	if status("http://"+r.admin+"/livez") != 200 {
		t.Error("not alive while draining")
	}
	// During the delay, what arrives is still served.
	if a := r.do("GET", "Patient/none", ""); a.StatusCode != 404 {
		t.Errorf("during the delay: %d", a.StatusCode)
	}
	eventually(t, "no new connections", func() bool { return status(ready) == 0 })
	if status("http://"+r.admin+"/readyz") != 503 {
		t.Error("the admin address is not there to tell")
	}
	select {
	case err := <-r.ended:
		t.Fatalf("ended with a request in flight: %v", err)
	default:
	}
	finish()
	if a, ok := <-done; ok && a.StatusCode != 201 {
		t.Errorf("the request in flight: %d %s", a.StatusCode, a.body)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("ended with: %v", err)
	}
}

func TestDrainHasALimit(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--drain-timeout=200ms")
	reader, writer := io.Pipe()
	defer writer.Close()
	go func() {
		response, err := http.Post(r.base+"/Patient", "application/json", reader)
		if err == nil {
			response.Body.Close()
		}
	}()
	eventually(t, "the request is in flight", func() bool { return strings.Contains(metrics(t, r), "starling_requests_in_flight 1") })
	started := time.Now()
	r.stop()
	err := <-r.ended
	if err == nil || !strings.Contains(err.Error(), "in flight") {
		t.Errorf("ended with: %v", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func metrics(t *testing.T, r *running) string {
	t.Helper()
	response, err := http.Get("http://" + r.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// process runs the program as a process of its own and gives its base URL.
func process(t *testing.T, arguments ...string) (*exec.Cmd, string) {
	t.Helper()
	command := exec.Command(os.Args[0], append([]string{"serve", "--listen=127.0.0.1:0", "--admin-listen="}, arguments...)...)
	command.Env = append(os.Environ(), asProgram+"=1")
	command.Stderr = &safeBuffer{}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	line := make([]byte, 200)
	n, err := out.Read(line)
	_, url, ok := strings.Cut(strings.TrimSpace(string(line[:n])), "serving FHIR R4 at ")
	if err != nil || !ok {
		t.Fatalf("%v %q\n%s", err, line[:n], command.Stderr)
	}
	return command, url
}

func TestSignals(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		command, url := process(t, "--database-url="+postgrestest.New(t), "--data-dir="+t.TempDir())
		if got := status(url + "/metadata"); got != 200 {
			t.Fatalf("metadata: %d", got)
		}
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%v: %v\n%s", signal, err, command.Stderr)
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	command, url := process(t, "--database-url="+postgrestest.New(t), "--data-dir="+t.TempDir(), "--drain-delay=1m")
	_ = status(url + "/metadata")
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "draining", func() bool { return status(strings.TrimSuffix(url, "/fhir")+"/readyz") == 503 })
	// Two in one second are one.
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(sameSignal + 200*time.Millisecond)
	if got := status(strings.TrimSuffix(url, "/fhir") + "/readyz"); got != 503 {
		t.Errorf("after the same signal again: %d", got)
	}
	started := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			if err == nil || time.Since(started) > 10*time.Second {
				t.Errorf("%v after %v", err, time.Since(started))
			}
			return
		case <-time.After(500 * time.Millisecond): // the machine may be slow to count the second
			_ = command.Process.Signal(syscall.SIGTERM)
		}
	}
}

func TestSignalWhileStarting(t *testing.T) {
	command := exec.Command(os.Args[0], "serve", "--listen=127.0.0.1:0", "--admin-listen=", "--data-dir="+t.TempDir())
	command.Env = append(os.Environ(), asProgram+"=1")
	errors := &safeBuffer{}
	command.Stderr = errors
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	eventually(t, "starting", func() bool { return strings.Contains(errors.String(), "creating the embedded database") })
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("%v\n%s", err, errors)
	}
}
