package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

//go:embed corrections.json
var correctionsJSON []byte

// correction changes the compact form of one definition.
type correction struct {
	Canonical string `json:"canonical"`
	// What leads to a member: names of members, and of items of arrays what
	// itemName gives. Empty: the definition itself.
	What []string `json:"what"`
	// From is the value that must be there. A removal needs none.
	From json.RawMessage `json:"from,omitempty"`
	// To is the value it gets; absent, it is removed, an element of a snapshot
	// with all elements below it.
	To     json.RawMessage `json:"to,omitempty"`
	After  string          `json:"after,omitempty"` // the item a new item follows; absent: the last
	Reason string          `json:"reason"`
}

func readCorrections() ([]correction, error) {
	var c []correction
	return c, json.Unmarshal(correctionsJSON, &c)
}

// apply makes the corrections. One that finds something else than its From is
// an error: the source has changed.
func (s *definitions) apply(corrections []correction) error {
	for i := range corrections {
		if err := s.correct(&corrections[i]); err != nil {
			return fmt.Errorf("correction %d, %s %v: %w", i+1, corrections[i].Canonical, corrections[i].What, err)
		}
	}
	s.sort()
	return nil
}

func (s *definitions) correct(c *correction) error {
	from, err := decodeValue(c.From)
	if err != nil {
		return err
	}
	to, err := decodeValue(c.To)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(s.definitions, func(d object) bool { return d["url"] == c.Canonical })
	switch {
	case len(c.What) == 0 && to == nil && at >= 0:
		s.definitions = slices.Delete(s.definitions, at, at+1)
		return nil
	case len(c.What) == 0 && to != nil && at < 0:
		s.definitions = append(s.definitions, to.(object))
		return nil
	case len(c.What) == 0:
		return errors.New("is already so in the source")
	case at < 0:
		return errors.New("is not in the source")
	}
	_, err = (&change{from: from, to: to, after: c.After}).apply(s.definitions[at], c.What)
	return err
}

// decodeValue decodes a value as decode does; nil for none.
func decodeValue(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	o, err := decode(slices.Concat([]byte(`{"value":`), raw, []byte(`}`)))
	return o["value"], err
}
