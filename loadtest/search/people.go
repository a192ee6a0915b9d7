package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"starling/loadtest/replicate"
	"starling/loadtest/wire"
)

// enough patients for searches not to be of the same ones again and again.
const enough = 400

// Present gives how many resources of the bundles the server holds, copies in
// their order, by its number of patients.
func Present(conn *wire.Conn, bundles []replicate.Bundle) (int, error) {
	response, err := conn.Do("GET", "/Patient?_summary=count", nil)
	if err != nil {
		return 0, err
	}
	var page struct{ Total *int }
	if err := json.Unmarshal(response.Body, &page); err != nil || response.Status != 200 || page.Total == nil {
		return 0, fmt.Errorf("counting patients: status %d: %.300s", response.Status, response.Body)
	}
	n := 0
	for i := range *page.Total { // each bundle has one
		n += bundles[i%len(bundles)].Resources
	}
	return n, nil
}

// Find asks the server for patients of all copies by their identifiers. Each
// must be there once.
func (v *Values) Find(conn *wire.Conn, copies int, seed uint64) ([]Person, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	var people []Person
	for n := range min(enough, copies*len(v.patients)) {
		p := Person{of: n % len(v.patients)}
		number := 0
		if copies*len(v.patients) > enough {
			number = r.IntN(copies)
		} else {
			number = n / len(v.patients)
		}
		of := &v.patients[p.of]
		p.Identifier = replicate.CopyText(of.identifier, number)
		response, err := conn.Do("GET", "/Patient?identifier="+escape(of.system+"|"+p.Identifier), nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Entry []struct{ Resource struct{ ID string } }
		}
		if err := json.Unmarshal(response.Body, &page); err != nil || response.Status != 200 || len(page.Entry) != 1 {
			return nil, fmt.Errorf("patient %s of copy %d: status %d, %d found: %.300s", p.Identifier, number, response.Status, len(page.Entry), response.Body)
		}
		p.ID = page.Entry[0].Resource.ID
		people = append(people, p)
	}
	return people, nil
}
