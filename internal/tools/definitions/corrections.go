package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

//go:embed corrections.json
var correctionsJSON []byte

// correction changes the compact form of one definition.
type correction struct {
	Canonical string `json:"canonical"`
	// What leads to a member: names of members, and of items of arrays their
	// id, path, key, code, name or url. Empty: the definition itself.
	What   []string        `json:"what"`
	From   json.RawMessage `json:"from,omitempty"` // absent: it is added
	To     json.RawMessage `json:"to,omitempty"`   // absent: it is removed
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
	from, to, err := c.values()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(s.definitions, func(d object) bool { return d["url"] == c.Canonical })
	if len(c.What) == 0 {
		return s.replace(at, to)
	}
	if at < 0 {
		return fmt.Errorf("not in the source")
	}
	_, err = change(s.definitions[at], c.What, from, to)
	return err
}

// replace removes a definition, or adds one.
func (s *definitions) replace(at int, to any) error {
	switch {
	case to == nil && at >= 0:
		s.definitions = slices.Delete(s.definitions, at, at+1)
	case to != nil && at < 0:
		s.definitions = append(s.definitions, to.(object))
	default:
		return fmt.Errorf("already so in the source")
	}
	return nil
}

func (c *correction) values() (from, to any, err error) {
	for _, v := range []struct {
		raw json.RawMessage
		out *any
	}{{c.From, &from}, {c.To, &to}} {
		if v.raw == nil {
			continue
		}
		o, err := decode(slices.Concat([]byte(`{"v":`), v.raw, []byte(`}`)))
		if err != nil {
			return nil, nil, err
		}
		*v.out = o["v"]
	}
	return from, to, nil
}

// change gives the value with the member at path replaced.
func change(value any, path []string, from, to any) (any, error) {
	if len(path) == 0 {
		if !reflect.DeepEqual(value, from) {
			return nil, fmt.Errorf("found %v", value)
		}
		return to, nil
	}
	switch v := value.(type) {
	case object:
		changed, err := change(v[path[0]], path[1:], from, to)
		if err != nil {
			return nil, err
		}
		if v[path[0]] = changed; changed == nil {
			delete(v, path[0])
		}
		return v, nil
	case []any:
		at := slices.IndexFunc(v, func(item any) bool { return named(item, path[0]) })
		if at < 0 {
			if len(path) > 1 {
				return nil, fmt.Errorf("nothing is named %s", path[0])
			}
			if from != nil {
				return nil, fmt.Errorf("%s is missing", path[0])
			}
			return append(v, to), nil
		}
		changed, err := change(v[at], path[1:], from, to)
		if err != nil {
			return nil, err
		}
		if changed == nil {
			return slices.Delete(v, at, at+1), nil
		}
		v[at] = changed
		return v, nil
	}
	return nil, fmt.Errorf("nothing to change at %v", path)
}

func named(item any, name string) bool {
	o, ok := item.(object)
	if !ok {
		return item == any(name)
	}
	for _, member := range []string{"id", "path", "key", "code", "name", "url"} {
		if s, ok := o[member].(string); ok {
			return s == name
		}
	}
	return false
}
