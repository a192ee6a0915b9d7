package rest

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"starling/internal/interaction"
)

// TestLargeBodiesWait: what is in work at once is bounded, small bodies pass.
func TestLargeBodiesWait(t *testing.T) {
	large := strings.Repeat(" ", 600<<10)
	for name, send := range map[string][]string{"plain": {large}, "gzip": {zipped(large), "Content-Encoding: gzip"}} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, func(c *Config) { c.MaxBody, c.Bodies = 1<<20, NewBodies(1<<20, nil) })
			entered, leave := make(chan int), make(chan bool)
			h.handlerServes(func(request *interaction.Request) {
				entered <- len(request.Body)
				<-leave
			})
			var done sync.WaitGroup
			post := func(body string, headers ...string) {
				done.Go(func() {
					if answer := h.do("POST", "/fhir/Patient", body, headers...); answer.Code != 200 {
						t.Errorf("%d %s", answer.Code, answer.Body)
					}
				})
			}
			post(send[0], send[1:]...)
			if got := <-entered; got != len(large) {
				t.Fatalf("%d bytes", got)
			}
			post(send[0], send[1:]...)
			post("{}")
			if got := <-entered; got != 2 {
				t.Errorf("a second large body came in: %d bytes", got)
			}
			leave <- true
			leave <- true
			if got := <-entered; got != len(large) {
				t.Errorf("%d bytes", got)
			}
			leave <- true
			done.Wait()
		})
	}
}

// TestLargeBodyWithoutPlace: the wait has an end, whose answer says so, and
// leaves nothing taken.
func TestLargeBodyWithoutPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies(1<<20, nil)
		h := newHarness(t, func(c *Config) { c.MaxBody, c.Bodies = 1<<20, bodies })
		held, err := bodies.take(t.Context(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		begun, large := time.Now(), strings.Repeat(" ", 600<<10)
		answer := h.do("POST", "/fhir/Patient", large)
		if code, _ := issue(t, answer); answer.Code != 503 || code != "throttled" || answer.Header().Get("Retry-After") == "" {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		if took := time.Since(begun); took != placeWait {
			t.Errorf("after %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := bodies.take(ctx, 1); err == nil {
			t.Error("a place for one who has gone")
		}
		held.leave()
		for range 3 {
			if answer := h.do("POST", "/fhir/Patient", large); answer.Code != 200 {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
		}
		if !bodies.places.TryAcquire(1 << 20) {
			t.Error("a place was kept")
		}
	})
}

// TestPlacesOfBrokenBodies: however a large body ends, its place is free again.
func TestPlacesOfBrokenBodies(t *testing.T) {
	bodies := NewBodies(1<<20, nil)
	h := newHarness(t, func(c *Config) { c.MaxBody, c.Bodies = 1<<20, bodies })
	large := strings.Repeat(" ", 600<<10)
	send := func(body string, length int64, headers ...string) int {
		request := httptest.NewRequest("POST", "/fhir/Patient", io.MultiReader(strings.NewReader(body)))
		request.ContentLength = length
		request.Header.Set("Content-Type", "application/json")
		if len(headers) > 0 {
			request.Header.Set("Content-Encoding", headers[0])
		}
		answer := httptest.NewRecorder()
		h.handler.ServeHTTP(answer, request)
		return answer.Code
	}
	zip := zipped(large)
	for name, got := range map[string][2]int{
		"broken off":         {send(large[:500<<10], 600<<10), 400},
		"no known length":    {send(large, -1), 200},
		"too long":           {send(large+large, -1), 413},
		"gzip too long":      {send(zipped(large+large), -1, "gzip"), 413},
		"gzip broken off":    {send(zip[:len(zip)-9], -1, "gzip"), 400},
		"gzip of two parts":  {send(zip+zip, -1, "gzip"), 413},
		"gzip, wrong length": {send(zip, int64(len(zip))+1, "gzip"), 400},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d, not %d", name, got[0], got[1])
		}
	}
	h.handlerServes(func(*interaction.Request) { panic("broken") })
	if got := send(large, 600<<10); got != 500 {
		t.Errorf("panic: %d", got)
	}
	if !bodies.places.TryAcquire(1 << 20) {
		t.Error("a place was kept")
	}
}

// TestHeavyBodiesAreTold: the first and the last of them, and those that turn
// out not to be.
func TestHeavyBodiesAreTold(t *testing.T) {
	var told []bool
	bodies := NewBodies(64<<20, func(heavy bool) { told = append(told, heavy) })
	first, _ := bodies.take(t.Context(), heavyBody)
	second, _ := bodies.take(t.Context(), heavyBody)
	light, _ := bodies.take(t.Context(), heavyBody-1)
	second.shrink(1 << 20)
	light.leave()
	if len(told) != 1 || !told[0] {
		t.Errorf("%v", told)
	}
	first.leave()
	first.leave()
	second.leave()
	if len(told) != 2 || told[1] {
		t.Errorf("%v", told)
	}
	if !bodies.places.TryAcquire(64 << 20) {
		t.Error("a place was kept")
	}
}
