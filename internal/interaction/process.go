package interaction

import (
	"context"
	"errors"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// process carries out a batch or transaction, as the Bundle's type says
// (https://hl7.org/fhir/R4/http.html#transaction).
func (s *Service) process(ctx context.Context, request *Request) (*Response, error) {
	root, err := s.parse(request.Body)
	if err != nil {
		return nil, err
	}
	if err := checkType(root, "Bundle"); err != nil {
		return nil, err
	}
	if err := s.checkMembers(root); err != nil {
		return nil, err
	}
	kind, err := stringOf(root, "type")
	if err != nil {
		return nil, err
	}
	entries := root.Get("entry")
	switch {
	case entries.Exists() && (entries.Kind() != element.Array || entries.Len() == 0):
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "The entries have to be an array that is not empty.").At("Bundle.entry")
	case entries.Len() > maxEntries:
		return nil, fhir.NewError(fhir.KindTooLarge, fhir.IssueTooCostly, "The Bundle has more than 10,000 entries.").At("Bundle.entry")
	case kind == "":
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The Bundle needs a type.").At("Bundle.type")
	case kind == "batch":
		return s.batch(ctx, request, entries)
	case kind == "transaction":
		return s.transaction(ctx, request, entries)
	}
	return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
		"A Bundle of type "+quote(kind)+" cannot be carried out; batch or transaction was expected. POST it to Bundle to store it.").At("Bundle.type")
}

// inEntry says of which entry an error is: its expressions begin with it.
func inEntry(number int, err error) error {
	var failure *fhir.Error
	if !errors.As(err, &failure) {
		return err
	}
	located := *failure
	located.Issues = make([]fhir.Issue, len(failure.Issues))
	for i, issue := range failure.Issues {
		issue.Expression = entryPath(number, issue.Expression)
		located.Issues[i] = issue
	}
	return &located
}

// entryPath gives the path within the Bundle of a path within an entry's
// resource, "Patient.name[0]". One that begins with the entry stays.
func entryPath(number int, path string) string {
	at := entryExpression(number)
	switch {
	case path == "":
		return at
	case strings.HasPrefix(path, at):
		return path
	case strings.HasPrefix(path, "resourceType"):
		return at + ".resource"
	}
	if i := strings.IndexByte(path, '.'); i >= 0 {
		return at + ".resource" + path[i:]
	}
	return at + ".resource"
}

// add adds the answer to an entry: of a read with its resource, of a write
// with what Prefer asks for.
func (b *bundle) add(request *Request, response *Response, err error) {
	b.entry()
	if err != nil {
		b.response("", failed(err))
		b.close()
		return
	}
	a := &answer{status: response.Status, location: response.Location, etag: response.ETag, lastUpdated: response.LastUpdated}
	if a.etag == "" && response.VersionID != 0 {
		a.etag = ETagOf(response.VersionID)
	}
	shown := true
	switch request.Interaction {
	case Create, Update, ConditionalUpdate, Patch, ConditionalPatch, Delete, ConditionalDelete:
		shown = request.Return == ReturnRepresentation
		if request.Return == ReturnOperationOutcome {
			a.outcome = AppendOutcome(nil, response.Issues)
		}
	}
	switch {
	case !shown || request.head || response.Status == StatusNotModified:
	case response.Resource != nil:
		b.member("resource")
		b.json = response.Resource.AppendJSON(b.json)
	case response.Body != nil:
		b.member("resource")
		b.json = append(b.json, response.Body...)
	}
	b.response(request.Base, a)
	b.close()
}

// failed is the answer to an entry that failed.
func failed(err error) *answer {
	failure := Failure(err)
	a := &answer{status: StatusOf(failure.Kind), outcome: AppendOutcome(nil, failure.Issues)}
	if failure.Resource != nil {
		a.etag, a.lastUpdated = ETagOf(failure.Resource.VersionID), failure.Resource.LastUpdated
	}
	return a
}
