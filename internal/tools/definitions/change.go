package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// change replaces, adds or removes a value within another. A nil from and to
// remove whatever is there.
type change struct {
	from, to any
	after    string
}

// apply gives the value with the member at path changed.
func (c *change) apply(value any, path []string) (any, error) {
	if len(path) == 0 {
		if removed := c.from == nil && c.to == nil && value != nil; !removed && !reflect.DeepEqual(value, c.from) {
			return nil, fmt.Errorf("found %v", value)
		}
		return c.to, nil
	}
	switch v := value.(type) {
	case object:
		changed, err := c.apply(v[path[0]], path[1:])
		if err != nil {
			return nil, err
		}
		if v[path[0]] = changed; changed == nil {
			delete(v, path[0])
		}
		return v, nil
	case []any:
		return c.applyToItem(v, path)
	}
	return nil, fmt.Errorf("nothing is there")
}

func (c *change) applyToItem(items []any, path []string) (any, error) {
	at := slices.IndexFunc(items, func(item any) bool { return itemName(item) == path[0] })
	if at < 0 {
		return c.insert(items, path)
	}
	changed, err := c.apply(items[at], path[1:])
	if err != nil {
		return nil, err
	}
	if changed != nil {
		items[at] = changed
		return items, nil
	}
	below := path[0] + "."
	items = slices.Delete(items, at, at+1)
	return slices.DeleteFunc(items, func(item any) bool {
		o, _ := item.(object)
		return strings.HasPrefix(text(o["path"]), below)
	}), nil
}

func (c *change) insert(items []any, path []string) (any, error) {
	if len(path) > 1 || c.from != nil || c.to == nil {
		return nil, fmt.Errorf("nothing is named %s", path[0])
	}
	at := len(items)
	if c.after != "" {
		at = 1 + slices.IndexFunc(items, func(item any) bool { return itemName(item) == c.after })
		if at == 0 {
			return nil, fmt.Errorf("nothing is named %s", c.after)
		}
	}
	return slices.Insert(items, at, c.to), nil
}

// itemName is what an item of an array is called in a path: itself, or the
// first of these members it has.
func itemName(item any) string {
	o, ok := item.(object)
	if !ok {
		return text(item)
	}
	for _, member := range []string{"id", "path", "key", "code", "name", "url", "definition"} {
		if s, ok := o[member].(string); ok {
			return s
		}
	}
	return ""
}
