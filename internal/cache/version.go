package cache

import (
	"fmt"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// VersionHeader names the version of the caches that a change of system
// resources has made. A request that carries it to any instance is answered by
// that version or a later one.
const VersionHeader = "X-Starling-Cache-Version" // as in package rest

// version is the value of VersionHeader: the lineage and the version of each
// domain in the order of fhir.Domains, joined by hyphens.
type version struct {
	lineage string
	domains [3]int64
}

func versionOf(state fhir.DomainState) (v version) {
	v.lineage = state.Lineage
	for i, domain := range fhir.Domains() {
		v.domains[i] = state.Versions[domain]
	}
	return v
}

func (v version) String() string {
	return fmt.Sprintf("%s-%d-%d-%d", v.lineage, v.domains[0], v.domains[1], v.domains[2])
}

// parseVersion reads the header; empty asks for nothing.
func parseVersion(text string) (v version, err error) {
	if text == "" {
		return v, nil
	}
	fields := strings.Split(text, "-")
	if len(fields) != 4 || fields[0] == "" {
		return v, badVersion()
	}
	v.lineage = fields[0]
	for i := range v.domains {
		if v.domains[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil {
			return v, badVersion()
		}
	}
	return v, nil
}

func badVersion() error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, VersionHeader+" is not one this server has given out")
}

// in reports whether snapshots hold it. A later lineage holds what an earlier
// one was known to have kept; nothing can be said of what it lost.
func (v version) in(held *[3]*label) bool {
	for i, l := range held {
		if l == nil || l.Lineage < v.lineage || l.Lineage == v.lineage && l.Version < v.domains[i] {
			return false
		}
	}
	return true
}
