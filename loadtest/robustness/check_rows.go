package robustness

import "slices"

// fence judges by what the database says of the order of commits: a resource
// stands between the change that made the rule it fits and the next one.
func (f *facts) fence() Check {
	c := Check{Name: "fence", Promise: "no resource is committed that was checked by a profile already replaced"}
	for _, row := range f.Rows {
		changes := f.committed[row.Register]
		i := slices.IndexFunc(changes, func(c Committed) bool { return c.Value == row.Value })
		c.Observations++
		switch {
		case i < 0:
			c.breach("Basic/%s of %s fits v%d, which was never in force", row.ID, row.Register, row.Value)
		case row.At.Before(changes[i].At):
			c.breach("Basic/%s of %s fits v%d, which came %v after it", row.ID, row.Register, row.Value, changes[i].At.Sub(row.At))
		case i+1 < len(changes) && row.At.After(changes[i+1].At):
			c.breach("Basic/%s of %s fits v%d, which v%d had replaced %v before", row.ID, row.Register, row.Value, changes[i+1].Value, row.At.Sub(changes[i+1].At))
		}
	}
	return c
}

// lost looks for acknowledged writes that are not there.
func (f *facts) lost() Check {
	c := Check{Name: "durability", Promise: "no acknowledged write is lost"}
	there := make(map[Stored]bool, len(f.Rows))
	for _, row := range f.Rows {
		there[Stored{row.Register, row.Value, row.ID}] = true
	}
	for _, s := range f.Stored {
		c.Observations++
		if !there[s] {
			c.breach("Basic/%s of %s, v%d", s.ID, s.Register, s.Value)
		}
	}
	for _, s := range f.Sets {
		if !s.Acknowledged {
			continue
		}
		c.Observations++
		if !slices.ContainsFunc(f.committed[s.Register], func(c Committed) bool { return c.Value == s.Value }) {
			c.breach("%s was set to v%d at %v", s.Register, s.Value, s.End)
		}
	}
	return c
}

// order checks the experiment itself: a register's values rise in the order of
// commits. The other checks rest on it.
func (f *facts) order() Check {
	c := Check{Name: "order", Promise: "changes of a register are committed in the order its client makes them in"}
	for register, changes := range f.committed {
		for i := 1; i < len(changes); i++ {
			c.Observations++
			if changes[i].Value <= changes[i-1].Value || !changes[i].At.After(changes[i-1].At) {
				c.breach("%s: v%d at %v, after v%d at %v", register, changes[i].Value, changes[i].At, changes[i-1].Value, changes[i-1].At)
			}
		}
	}
	return c
}

// convergence checks that when all is over each server shows what the database
// has: no change was missed for good.
func (f *facts) convergence() Check {
	c := Check{Name: "convergence", Promise: "when faults are over every server shows the last change of every register"}
	for i := range f.Final {
		l := &f.Final[i]
		c.Observations++
		changes := f.committed[l.Register]
		if len(changes) == 0 || changes[len(changes)-1].Value != l.Value {
			c.breach("%v: v%d", l, l.Value)
		}
	}
	return c
}
