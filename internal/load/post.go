package load

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// posted is what a post came to.
type posted struct {
	resources int
	proof     fhir.Key // one that was stored; zero if none was
	failures  []Failure
}

func (p *posted) add(other posted) {
	p.resources += other.resources
	if p.proof == (fhir.Key{}) {
		p.proof = other.proof
	}
	p.failures = append(p.failures, other.failures...)
}

// Failures that pass are tried again, each time after twice the wait.
const (
	attempts  = 6
	firstWait = 100 * time.Millisecond
)

// post has a service carry out an interaction. Where names it in the failures of entries.
func (r *run) post(ctx context.Context, service Service, request *interaction.Request, where string) (posted, error) {
	request.Base, request.Return, request.Handling = r.Base, interaction.ReturnMinimal, interaction.HandlingLenient
	wait := firstWait
	for attempt := 1; ; attempt++ {
		response, err := service.Serve(ctx, request)
		if err == nil {
			return r.outcome(request, response, where)
		}
		if kind := interaction.Failure(err).Kind; attempt == attempts || kind != fhir.KindUnavailable && kind != fhir.KindThrottled {
			return posted{}, err
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// outcome reads what a response says was stored.
func (r *run) outcome(request *interaction.Request, response *interaction.Response, where string) (posted, error) {
	if request.Interaction != interaction.Batch {
		return posted{resources: 1, proof: keyAt(response.Location)}, nil
	}
	tree, err := element.Parse(response.Body, limits)
	if err != nil {
		return posted{}, err
	}
	var done posted
	n := 0
	for entry := range tree.Root().Get("entry").Children() {
		answer := entry.Get("response")
		if location := answer.Get("location").Str(); location != "" {
			done.add(posted{resources: 1, proof: keyAt(strings.TrimPrefix(location, r.Base+"/"))})
		}
		if failure := entryFailure(answer); failure != nil {
			done.failures = append(done.failures, Failure{fmt.Sprintf("%s: Bundle.entry[%d]", where, n), failure})
		}
		n++
	}
	return done, nil
}

// keyAt is the identity in a relative location, "Patient/1/_history/2".
func keyAt(location string) fhir.Key {
	parts := strings.SplitN(location, "/", 3)
	if len(parts) < 2 {
		return fhir.Key{}
	}
	return fhir.Key{Type: fhir.ResourceType(parts[0]), ID: parts[1]}
}

// entryFailure is the failure an entry of a batch answers with; nil if it did
// not fail.
func entryFailure(answer element.Node) *fhir.Error {
	text, _, _ := strings.Cut(answer.Get("status").Str(), " ")
	status, err := strconv.Atoi(text)
	if err == nil && status < 400 {
		return nil
	}
	failure := &fhir.Error{Kind: fhir.KindInvalid}
	for issue := range answer.Get("outcome").Get("issue").Children() {
		failure.Issues = append(failure.Issues, fhir.Issue{
			Severity:    fhir.Severity(issue.Get("severity").Str()),
			Code:        fhir.IssueType(issue.Get("code").Str()),
			Diagnostics: issue.Get("diagnostics").Str(),
			Expression:  issue.Get("expression").At(0).Str(),
		})
	}
	if len(failure.Issues) == 0 {
		failure.Issues = []fhir.Issue{{Severity: fhir.SeverityError, Code: fhir.IssueException, Diagnostics: "Answered with status " + text + "."}}
	}
	return failure
}
