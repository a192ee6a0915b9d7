package fhirpath

import "slices"

// sortKey is an argument of sort(): descending with a minus before it.
type sortKey struct {
	key        step
	descending bool
}

func compileSort(c *compiler, call invocation) (step, error) {
	keys := make([]sortKey, 0, len(call.args))
	for _, arg := range call.args {
		key := sortKey{}
		if u, ok := arg.(*unary); ok && u.op == "-" {
			key.descending, arg = true, u.operand
		}
		var err error
		if key.key, err = c.compile(arg); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		keys = []sortKey{{key: pushThis}}
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		return r.sort(from, keys)
	}, nil
}

// sortRow is an item with its keys; an absent key is the zero Item.
type sortRow struct {
	item Item
	keys []Item
}

func (r *run) sort(from int, keys []sortKey) error {
	outer := r.enter()
	defer r.leave(outer)
	rows := make([]sortRow, 0, len(r.stack)-from)
	for i, end := from, len(r.stack); i < end; i++ {
		row := sortRow{item: r.stack[i]}
		r.this, r.index = row.item, int64(i-from)
		for _, k := range keys {
			key, _, err := r.single(k.key)
			if err != nil {
				return err
			}
			row.keys = append(row.keys, key)
		}
		rows = append(rows, row)
	}
	var failed error
	slices.SortStableFunc(rows, func(a, b sortRow) int {
		for k := range keys {
			order, err := r.sortOrder(a.keys[k], b.keys[k], keys[k].descending)
			if err != nil {
				failed = err
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	for i, row := range rows {
		r.stack[from+i] = row.item
	}
	return failed
}

// sortOrder puts absent keys first, in a descending order too.
func (r *run) sortOrder(a, b Item, descending bool) (int, error) {
	switch {
	case !a.Exists() && !b.Exists():
		return 0, nil
	case !a.Exists():
		return -1, nil
	case !b.Exists():
		return 1, nil
	}
	if err := r.tick(1); err != nil {
		return 0, err
	}
	if descending {
		a, b = b, a
	}
	order, _, err := r.compare(a, b, nowhere)
	return order, err
}
