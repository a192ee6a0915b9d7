package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"starling/test/program"
)

// Two hundred transactions, which update the same resources in opposite orders
// over two instances, all succeed, and each is applied once and as a whole.
func TestOppositeTransactionsAllSucceed(t *testing.T) {
	c := start(t)
	const resources, transactions, workers = 6, 200, 20
	for i := range resources {
		id := fmt.Sprint("shared-", i)
		program.Want(t, http.StatusCreated, "PUT", c.base+"/Basic/"+id, body(id, "0"))
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for n := next.Add(1); n <= transactions; n = next.Add(1) {
				entries := make([]string, resources)
				for i := range entries {
					id := fmt.Sprint("shared-", i)
					at := i
					if n%2 == 1 {
						at = resources - 1 - i
					}
					entries[at] = fmt.Sprintf(`{"resource":%s,"request":{"method":"PUT","url":"Basic/%s"}}`, body(id, fmt.Sprint(n)), id)
				}
				bundle := `{"resourceType":"Bundle","type":"transaction","entry":[` + strings.Join(entries, ",") + `]}`
				answer, err := program.Do("POST", c.base, []byte(bundle))
				if err != nil || answer.Status != http.StatusOK {
					t.Errorf("transaction %d: %v, status %d: %.400s", n, err, answer.Status, answer.Body)
				}
			}
		})
	}
	group.Wait()
	last := map[string]bool{}
	for i := range resources {
		read := decode(t, program.Want(t, http.StatusOK, "GET", fmt.Sprintf("%s/Basic/shared-%d", c.base, i), nil).Body)
		if got, want := read["meta"].(map[string]any)["versionId"], fmt.Sprint(transactions+1); got != want {
			t.Errorf("resource %d is at version %v, want %s", i, got, want)
		}
		last[fmt.Sprint(read["identifier"])] = true
	}
	if len(last) != 1 {
		t.Errorf("the last transaction was applied in part: %v", last)
	}
	c.bothServed(t)
}
