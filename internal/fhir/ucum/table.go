package ucum

import (
	_ "embed"
	"fmt"
	"math/big"
	"strings"
	"sync"
)

//go:embed units.txt
var text string

// table holds the prefixes and the units of one symbol.
type table struct {
	prefixes map[string]*big.Rat
	atoms    map[string]*atom
}

// atom is a unit of one symbol.
type atom struct {
	code      string
	metric    bool // takes prefixes
	factor    *big.Rat
	dimension dimension
	function  *function // of a special unit: factor and dimension are those of the corresponding unit
}

// definition is a line of the embedded file.
type definition struct{ code, kind, metric, value, unit string }

// load reads the embedded file, once.
var load = sync.OnceValue(func() *table {
	t, err := read(text)
	if err != nil {
		panic(err) // the file is part of the program, and tested
	}
	return t
})

func read(text string) (*table, error) {
	t := &table{prefixes: map[string]*big.Rat{}, atoms: map[string]*atom{}}
	definitions := map[string]definition{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case f[0] == "prefix" && len(f) == 3:
			factor, ok := new(big.Rat).SetString(f[2])
			if !ok {
				return nil, fmt.Errorf("prefix %s: %s is no number", f[1], f[2])
			}
			t.prefixes[f[1]] = factor
		case f[0] == "unit" && len(f) == 6:
			definitions[f[1]] = definition{f[1], f[2], f[3], f[4], f[5]}
		case !strings.HasPrefix(line, "#"):
			return nil, fmt.Errorf("unexpected line %q", line)
		}
	}
	for _, d := range definitions {
		if _, err := t.resolve(definitions, d, 0); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// resolve makes the atom of a definition, after those that it is defined by.
func (t *table) resolve(all map[string]definition, d definition, depth int) (*atom, error) {
	if a := t.atoms[d.code]; a != nil {
		return a, nil
	}
	if depth > len(all) {
		return nil, fmt.Errorf("%s is defined by itself", d.code)
	}
	a := &atom{code: d.code, metric: d.metric == "metric", factor: big.NewRat(1, 1)}
	if d.kind == "base" || d.kind == "arbitrary" {
		a.dimension = dimension{{d.code, 1}}
		t.atoms[d.code] = a
		return a, nil
	}
	if d.kind != "ratio" {
		if a.function = functions[d.kind]; a.function == nil {
			return nil, fmt.Errorf("%s: unknown function %s", d.code, d.kind)
		}
	}
	var failed error
	p := parser{text: d.unit, prefixes: t.prefixes, atom: func(code string) *atom {
		if other, ok := all[code]; ok {
			found, err := t.resolve(all, other, depth+1)
			if err != nil {
				failed = err
			}
			return found
		}
		return nil
	}}
	defining, err := p.parse()
	if failed != nil || err != nil {
		return nil, fmt.Errorf("%s: %w %w", d.code, failed, err)
	}
	value, ok := new(big.Rat).SetString(d.value)
	if !ok || value.Sign() <= 0 || defining.special != nil {
		return nil, fmt.Errorf("%s: unexpected definition %s %s", d.code, d.value, d.unit)
	}
	a.factor, a.dimension = value.Mul(value, defining.factor), defining.dimension
	t.atoms[d.code] = a
	return a, nil
}
