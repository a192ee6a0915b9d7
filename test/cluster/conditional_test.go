package cluster

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"starling/test/program"
)

// Twenty equal conditional creates at once, spread over two instances, make one
// resource: one is answered with 201, the others with 200, and all name it.
func TestEqualConditionalCreatesMakeOneResource(t *testing.T) {
	c := start(t)
	for round := range 5 {
		const creates = 20
		value := fmt.Sprint("once-", round)
		criteria := "identifier=urn:starling:cluster|" + value
		var mu sync.Mutex
		statuses, named := map[int]int{}, map[string]bool{}
		var group sync.WaitGroup
		began := make(chan struct{})
		for range creates {
			group.Go(func() {
				<-began
				answer, err := program.Do("POST", c.base+"/Basic", body("", value), "If-None-Exist", criteria)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				statuses[answer.Status]++
				named[fmt.Sprint(location.FindStringSubmatch(answer.Header.Get("Location")))] = true
			})
		}
		close(began)
		group.Wait()
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != creates-1 || len(named) != 1 {
			t.Errorf("round %d: statuses %v, resources %v", round, statuses, named)
		}
		for _, server := range c.servers {
			found := decode(t, program.Want(t, http.StatusOK, "GET", server.URL+"/Basic?identifier=urn:starling:cluster%7C"+value, nil).Body)
			if entries, _ := found["entry"].([]any); len(entries) != 1 {
				t.Errorf("round %d: %d are found", round, len(entries))
			}
		}
	}
	c.bothServed(t)
}
