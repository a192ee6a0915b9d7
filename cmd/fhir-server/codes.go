package main

import (
	"context"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/search"
	"starling/internal/terminology"
)

// searchedCodes answers searches about value sets and hierarchies from the
// terminology it gives.
type searchedCodes func() *terminology.Terminology

// listing bounds the time a value set takes to be listed.
const listing = 5 * time.Second

func (c searchedCodes) current() (*terminology.Terminology, error) {
	if c == nil {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "there is no terminology")
	}
	return c(), nil
}

// Members implements search.Terminology.
func (c searchedCodes) Members(canonical string) ([]search.Coding, error) {
	t, err := c.current()
	if err != nil {
		return nil, err
	}
	v, err := t.ValueSet(canonical)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), listing)
	defer cancel()
	expanded, err := t.Expand(ctx, v, terminology.Expansion{Count: -1})
	if err != nil {
		return nil, err
	}
	codes := make([]search.Coding, len(expanded.Codes))
	for i, code := range expanded.Codes {
		codes[i] = search.Coding{System: code.System, Code: code.Code}
	}
	return codes, nil
}

// Subsumed implements search.Terminology.
func (c searchedCodes) Subsumed(system, code string, above bool) ([]search.Coding, error) {
	t, err := c.current()
	if err != nil {
		return nil, err
	}
	s, err := t.CodeSystem(system)
	if err != nil {
		return nil, err
	}
	related, err := s.Related(code, above)
	if err != nil {
		return nil, err
	}
	codes := make([]search.Coding, len(related))
	for i, code := range related {
		codes[i] = search.Coding{System: system, Code: code}
	}
	return codes, nil
}
