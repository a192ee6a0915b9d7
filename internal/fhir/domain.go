package fhir

import (
	"context"
	"errors"
	"time"
)

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

// Number is the domain's place in a Basis and in Domains.
func (d Domain) Number() int {
	for i, domain := range Domains() {
		if domain == d {
			return i
		}
	}
	return -1
}

// Basis is the versions of the domains that a write was checked, indexed and
// matched by. The zero value is none: the write is not fenced.
type Basis struct {
	// Lineage is of which history of the database the versions are
	// (DomainState.Lineage).
	Lineage  string
	Versions [3]int64 // by Domain.Number; 0: not used
}

// ErrStale says that a write, or an answer, rests on system resources that have
// been replaced since. Nothing was written; made again by what is there now, it
// may succeed.
var ErrStale = errors.New("fhir: what it was made by has been replaced")

// ErrUnheard says that word of changes cannot come on the way that was asked
// for, and why, for the operator.
var ErrUnheard = errors.New("word of changes cannot come this way")

// DomainState is the versions of the domains at one time.
type DomainState struct {
	// Lineage names the history the versions are of: the database's timeline,
	// which a failover changes, and the epoch, which a restore does. Versions of
	// different lineages cannot be compared. The later of two sorts last.
	Lineage  string
	Versions DomainVersions
}

// DomainSnapshot is a domain's resources at a version.
type DomainSnapshot struct {
	Lineage   string
	Version   int64
	Resources []*Resource
}

// Member is an instance that keeps caches, as the others see it.
type Member struct {
	ID        string // a UUID, made anew with every start
	Name      string // for people: host and process
	Address   string // of its API; empty if not known
	Software  string // the release it runs
	Level     string // of --validation
	Mode      string // of --cache-sync
	Transport string // in use
	Lease     time.Duration
	Started   time.Time
	// Applied is what the snapshots it serves hold.
	Applied DomainState
	// Live: it was heard of within two leases, by the database's clock. Age is
	// how long ago.
	Live bool
	Age  time.Duration
	// LeaseAge is how long ago all it serves was last found current; negative: not
	// known, or never.
	LeaseAge time.Duration
}

// Valid reports whether it may answer without asking the database first.
func (m *Member) Valid() bool { return m.LeaseAge >= 0 && m.LeaseAge < m.Lease }

// Cluster is the instances that share a database, as one of them sees it.
type Cluster struct {
	State   DomainState // of the database
	Members []*Member   // heard of in the last hour
	Self    string      // the ID of the one that tells
}

// DomainStore gives the caches what they are built from. The version rows are
// the truth.
type DomainStore interface {
	// Load reads a domain's current resources and their label in one snapshot of
	// the database. Those that are held already, in their current version and of the
	// same lineage, are given as they are held, and not read again.
	Load(ctx context.Context, domain Domain, held DomainSnapshot) (DomainSnapshot, error)
}

// MemberStore is where instances that keep caches know each other from.
type MemberStore interface {
	DomainStore
	// Join makes the instance a member. It fails while a live member has another
	// lease or mode.
	Join(ctx context.Context, member *Member) error
	// Beat tells the others what the member has applied, and reads the versions
	// now committed, on a primary. lapsed says that the member had not been heard
	// of for a lease: others may have taken it for dead just then, so the state
	// proves nothing, and the next Beat has to.
	Beat(ctx context.Context, member *Member) (state DomainState, lapsed bool, err error)
	// State reads the versions now committed.
	State(ctx context.Context) (DomainState, error)
	// Beginnings gives the versions with which lineages of the database began, that of
	// now too: what they have kept of the ones before. Of a domain whose version has
	// not been raised in a lineage there is none, but for that of now.
	Beginnings(ctx context.Context) ([]DomainState, error)
	// Members gives all members heard of in the last hour.
	Members(ctx context.Context) ([]*Member, error)
	// Leave ends the membership.
	Leave(ctx context.Context, id string) error
}
