package interaction

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// batchWidth is how many entries of a batch are under way at once: enough for
// the store to carry out many in one statement.
const batchWidth = 64

// batch carries out the entries one by one, each for itself: what fails is
// told in its place (https://hl7.org/fhir/R4/http.html#transaction). As in a
// transaction deletions go first, then creates, updates and reads.
func (s *Service) batch(ctx context.Context, outer *Request, nodes element.Node) (*Response, error) {
	n := nodes.Len()
	requests, responses, failures := make([]*Request, n), make([]*Response, n), make([]error, n)
	var steps [lastStep + 1][]int
	number := 0
	for node := range nodes.Children() {
		if e, err := s.entry(node, number, outer); err != nil {
			failures[number] = inEntry(number, err)
		} else {
			requests[number] = e.request
			step := stepOf(e.request.Interaction)
			steps[step] = append(steps[step], number)
		}
		number++
	}
	for _, step := range steps {
		var group errgroup.Group
		group.SetLimit(batchWidth)
		for _, i := range step {
			group.Go(func() error {
				defer func() {
					if fault := recover(); fault != nil {
						failures[i] = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
					}
				}()
				response, err := s.Serve(ctx, requests[i])
				responses[i], failures[i] = response, inEntry(i, err)
				return nil
			})
		}
		_ = group.Wait() // failures has them
	}
	b := newBundle("batch-response", time.Time{})
	var faults []error
	for i := range n {
		b.add(requests[i], responses[i], failures[i])
		if failures[i] == nil {
			continue
		}
		if kind := Failure(failures[i]).Kind; StatusOf(kind) >= 500 && kind != fhir.KindPreparing {
			faults = append(faults, failures[i])
		}
	}
	return &Response{Status: StatusOK, Body: b.end(), Changed: true, Faults: errors.Join(faults...)}, nil
}

// step is the place of an interaction in the order of a transaction
// (https://hl7.org/fhir/R4/http.html#trules).
type step int

const (
	stepDelete step = iota
	stepCreate
	stepUpdate
	stepRead
	lastStep = stepRead
)

func stepOf(interaction Name) step {
	switch interaction {
	case Delete, ConditionalDelete:
		return stepDelete
	case Create:
		return stepCreate
	case Update, ConditionalUpdate, Patch, ConditionalPatch:
		return stepUpdate
	}
	return stepRead
}
