package interaction

import (
	"context"
	"strconv"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// Cluster knows the instances that share the database.
type Cluster interface {
	Cluster(ctx context.Context) (*fhir.Cluster, error)
}

// cacheStatusDefinition is the operation $cache-status, the server's own: which
// instances there are, and which versions of the caches they have applied. It is
// for operators.
var cacheStatusDefinition = &definition.Operation{
	URL: "urn:starling:operation:cache-status", Name: "CacheStatus", Code: "cache-status", System: true,
	Parameter: []definition.OperationParameter{
		{Name: "lineage", Use: "out", Type: "string"},
		{Name: "domain", Use: "out"},
		{Name: "instance", Use: "out"},
		{Name: "lost", Use: "out"},
	},
}

func (s *Service) cacheStatus(ctx context.Context, c *call) (*Response, error) {
	if !c.Operator {
		return nil, s.noOperator()
	}
	cluster, err := s.Cluster.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	out := newParameters()
	out.text("lineage", "valueString", cluster.State.Lineage)
	for _, domain := range fhir.Domains() {
		out.open("domain")
		out.text("name", "valueCode", string(domain))
		out.version("version", cluster.State.Versions[domain])
		out.close()
	}
	for _, m := range cluster.Members {
		if m.Live {
			out.member("instance", m, cluster)
		}
	}
	for _, m := range cluster.Members {
		if !m.Live {
			out.member("lost", m, cluster)
		}
	}
	return &Response{Status: StatusOK, Body: out.end()}, nil
}

// noOperator refuses what is for operators.
func (s *Service) noOperator() error {
	if !s.Operators {
		return fhir.NewError(fhir.KindForbidden, fhir.IssueForbidden,
			"This is for operators, who are served at the admin address; here they would be if the server had a token for them.")
	}
	return fhir.NewError(fhir.KindUnauthorized, fhir.IssueLogin, "This is for operators: send their token as a bearer token.")
}

// member adds what is known of an instance.
func (p *parametersOut) member(name string, m *fhir.Member, cluster *fhir.Cluster) {
	p.open(name)
	p.text("name", "valueString", m.Name)
	p.text("address", "valueString", m.Address)
	p.flag("answering", m.ID == cluster.Self)
	p.text("mode", "valueCode", m.Mode)
	p.text("transport", "valueCode", m.Transport)
	p.text("software", "valueString", m.Software)
	p.text("validation", "valueCode", m.Level)
	p.text("started", "valueInstant", m.Started.UTC().Format("2006-01-02T15:04:05.000Z"))
	p.duration("heard", m.Age)
	p.open("lease")
	p.flag("valid", m.Valid())
	if m.LeaseAge >= 0 {
		p.duration("age", m.LeaseAge)
	}
	p.duration("limit", m.Lease)
	p.close()
	p.text("lineage", "valueString", m.Applied.Lineage)
	for _, domain := range fhir.Domains() {
		p.open("domain")
		p.text("name", "valueCode", string(domain))
		p.version("applied", m.Applied.Versions[domain])
		p.flag("current", m.Applied.Lineage == cluster.State.Lineage && m.Applied.Versions[domain] >= cluster.State.Versions[domain])
		p.close()
	}
	p.close()
}

// version adds a version. It is a decimal because FHIR's integers end at 2³¹.
func (p *parametersOut) version(name string, version int64) {
	p.add(name, "valueDecimal", strconv.AppendInt(nil, version, 10))
}

// duration adds a time span in seconds, to the millisecond.
func (p *parametersOut) duration(name string, d time.Duration) {
	value := strconv.AppendFloat([]byte(`{"value":`), d.Seconds(), 'f', 3, 64)
	p.add(name, "valueDuration", append(value, `,"unit":"s","system":"http://unitsofmeasure.org","code":"s"}`...))
}
