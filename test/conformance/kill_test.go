package conformance

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"starling/test/program"
)

// acknowledged is a write the server has answered with success: the resource at
// that URL has that value, or a later one of the same writer.
type acknowledged struct {
	url     string
	version string // of the answer
	value   int
}

// A server killed with SIGKILL while clients write loses nothing it has
// acknowledged: another process on the same data finds every write. This holds
// on a PostgreSQL of its own, which the next process must take over, and on one
// it was given.
func TestKillLosesNoAcknowledgedWrite(t *testing.T) {
	t.Run("own database", func(t *testing.T) { killUnderLoad(t, "--data-dir", t.TempDir()) })
	t.Run("given database", func(t *testing.T) { killUnderLoad(t, "--database-url", program.Database(t)) })
}

func killUnderLoad(t *testing.T, database ...string) {
	const writers, rounds = 12, 3
	written := make([][]acknowledged, writers)
	server := program.Start(t, database...)
	for round := range rounds {
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				written[w] = append(written[w], writeUntilKilled(t, server.URL, w, round)...)
			})
		}
		time.Sleep(700 * time.Millisecond)
		server.Kill()
		group.Wait()
		server = program.Start(t, append(database, "--listen", server.Address())...)
	}
	checked := 0
	for _, list := range written {
		for _, a := range list {
			read := program.Want(t, http.StatusOK, "GET", fmt.Sprintf("%s/%s/_history/%s", server.URL, a.url, a.version), nil)
			identifier := decode(t, read.Body)["identifier"].([]any)[0].(map[string]any)
			if identifier["value"] != fmt.Sprint(a.value) {
				t.Errorf("%s version %s has value %v, acknowledged was %d", a.url, a.version, identifier["value"], a.value)
			}
			checked++
		}
	}
	t.Logf("%d acknowledged writes are there after %d kills", checked, rounds)
	if checked < writers*rounds {
		t.Errorf("only %d writes were acknowledged", checked)
	}
}

// writeUntilKilled creates resources and updates each once until a request gets
// no answer. An answer that is an error is a failure: the server is whole until
// it is killed.
func writeUntilKilled(t *testing.T, base string, writer, round int) (written []acknowledged) {
	for value := 1; ; value++ {
		body := func(id string) []byte {
			return fmt.Appendf(nil, `{"resourceType":"Basic",%s"identifier":[{"system":"urn:starling:kill:%d-%d","value":"%d"}],"code":{"text":"kill"}}`,
				id, writer, round, value)
		}
		answer, err := program.Do("POST", base+"/Basic", body(""))
		if err != nil {
			return written
		}
		match := location.FindStringSubmatch(answer.Header.Get("Location"))
		if answer.Status != http.StatusCreated || match == nil {
			t.Errorf("create: status %d: %.300s", answer.Status, answer.Body)
			return written
		}
		url := match[1]
		written = append(written, acknowledged{url, "1", value})
		value++
		answer, err = program.Do("PUT", base+"/"+url, body(fmt.Sprintf(`"id":%q,`, url[len("Basic/"):])))
		if err != nil {
			return written
		}
		if answer.Status != http.StatusOK {
			t.Errorf("update: status %d: %.300s", answer.Status, answer.Body)
			return written
		}
		written = append(written, acknowledged{url, "2", value})
	}
}
