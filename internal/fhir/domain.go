package fhir

import "context"

// Domain is one of the caches every instance keeps of system resources: the
// resources that change how the server itself behaves.
type Domain string

// The domains.
const (
	DomainValidation    Domain = "validation"
	DomainRouting       Domain = "routing"
	DomainSubscriptions Domain = "subscriptions"
)

// domainTypes says from which resource types each domain is built.
var domainTypes = map[Domain][]ResourceType{
	DomainValidation:    {"StructureDefinition", "ValueSet", "CodeSystem", "ConceptMap"},
	DomainRouting:       {"CapabilityStatement", "SearchParameter", "OperationDefinition", "CompartmentDefinition"},
	DomainSubscriptions: {"Subscription"},
}

// Domains lists all domains.
func Domains() []Domain {
	return []Domain{DomainValidation, DomainRouting, DomainSubscriptions}
}

// Types lists the resource types the domain is built from.
func (d Domain) Types() []ResourceType { return domainTypes[d] }

// DomainOf gives the domain that resources of a type belong to; false for
// clinical types, which no cache is built from.
func DomainOf(t ResourceType) (Domain, bool) {
	for domain, types := range domainTypes {
		for _, of := range types {
			if of == t {
				return domain, true
			}
		}
	}
	return "", false
}

// DomainVersions gives the version of each domain. A version is raised by one
// in every transaction that changes a resource of the domain, in commit order.
type DomainVersions map[Domain]int64

// DomainStore gives the caches what they are built from. The version rows are
// the truth; what Listen delivers is a hint that makes things fast.
type DomainStore interface {
	// Versions reads the versions now committed.
	Versions(ctx context.Context) (DomainVersions, error)
	// Load reads a domain's current resources and its version, both in one
	// snapshot of the database.
	Load(ctx context.Context, domain Domain) (int64, []*Resource, error)
	// Listen calls ready once changes committed from then on will be heard of, gives up if it fails,
	// and changed for each that is, until ctx ends or the connection is lost.
	// Its error is never nil.
	Listen(ctx context.Context, ready func() error, changed func(DomainVersions)) error
}
