package conformance

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"starling/test/program"
)

// Two hundred transactions, each updating several of a few resources in an order
// of its own, half of them in the opposite order of the others, over two servers:
// each succeeds or fails cleanly, no deadlock reaches a client, and none is
// applied in part.
func TestOverlappingTransactions(t *testing.T) {
	database := program.Database(t)
	servers := []*program.Server{program.Start(t, "--database-url", database), program.Start(t, "--database-url", database)}
	const resources, transactions, workers = 8, 200, 16
	for i := range resources {
		program.Want(t, http.StatusCreated, "PUT", fmt.Sprintf("%s/Basic/overlap-%d", servers[0].URL, i), basic(i, 0))
	}
	var next, succeeded, conflicts atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for n := next.Add(1); n <= transactions; n = next.Add(1) {
				answer, err := program.Do("POST", servers[n%2].URL, overlapping(int(n), resources))
				switch {
				case err != nil:
					t.Errorf("transaction %d: %v", n, err)
				case answer.Status == http.StatusOK:
					succeeded.Add(1)
				case answer.Status == http.StatusConflict || answer.Status == http.StatusPreconditionFailed:
					conflicts.Add(1)
				default:
					t.Errorf("transaction %d: status %d: %.400s", n, answer.Status, answer.Body)
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d transactions succeeded, %d conflicts", succeeded.Load(), conflicts.Load())
	if succeeded.Load() != transactions {
		t.Errorf("%d of %d transactions succeeded: none carries a precondition, so each should", succeeded.Load(), transactions)
	}
	// Each transaction wrote its number into all it touched: whatever was last,
	// the versions of a resource are as many as the transactions that touched it.
	touched := make([]int, resources)
	for n := 1; n <= transactions; n++ {
		for _, i := range order(n, resources) {
			touched[i]++
		}
	}
	for i := range resources {
		read := program.Want(t, http.StatusOK, "GET", fmt.Sprintf("%s/Basic/overlap-%d", servers[1].URL, i), nil)
		version := decode(t, read.Body)["meta"].(map[string]any)["versionId"]
		if want := fmt.Sprint(touched[i] + 1); version != want {
			t.Errorf("resource %d is at version %v, want %s", i, version, want)
		}
	}
}

// order gives the resources that transaction n updates, in the order it sends them.
func order(n, resources int) []int {
	chosen := rand.New(rand.NewPCG(uint64(n), 0)).Perm(resources)[:4]
	ascending := n%2 == 0
	for i := range chosen {
		for j := i + 1; j < len(chosen); j++ {
			if chosen[i] > chosen[j] == ascending {
				chosen[i], chosen[j] = chosen[j], chosen[i]
			}
		}
	}
	return chosen
}

func overlapping(n, resources int) []byte {
	var b strings.Builder
	b.WriteString(`{"resourceType":"Bundle","type":"transaction","entry":[`)
	for k, i := range order(n, resources) {
		if k > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"resource":%s,"request":{"method":"PUT","url":"Basic/overlap-%d"}}`, basic(i, n), i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func basic(i, n int) []byte {
	return fmt.Appendf(nil, `{"resourceType":"Basic","id":"overlap-%d","identifier":[{"system":"urn:starling:overlap","value":"%d"}],"code":{"text":"overlap"}}`, i, n)
}
