package interaction

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// conditional parses the criteria of a conditional interaction. Parameters that
// concern the answer alone are no criteria. A type before them, as a URL has it,
// is let pass.
func (s *Service) conditional(t fhir.ResourceType, rawQuery, base string) (fhir.Condition, error) {
	rawQuery = strings.TrimPrefix(strings.TrimPrefix(rawQuery, string(t)), "?")
	criteria, err := s.Planner.PlanConditional(t, without(rawQuery, "_format", "_pretty"), base)
	return fhir.Condition{Type: t, Criteria: criteria}, err
}

// onlyMatch gives the one resource that meets the criteria, nil if none does.
// Those of gone do not count.
func onlyMatch(ctx context.Context, tx fhir.Tx, condition fhir.Condition, gone ...fhir.Key) (*fhir.Resource, error) {
	page, err := tx.Search(ctx, &fhir.SearchQuery{
		Types: []fhir.ResourceType{condition.Type}, Criteria: condition.Criteria, Count: 2 + len(gone),
	})
	if err != nil {
		return nil, err
	}
	matches := slices.DeleteFunc(page.Matches, func(r *fhir.Resource) bool { return slices.Contains(gone, r.Key) })
	switch len(matches) {
	case 0:
		return nil, nil
	case 1:
		return matches[0], nil
	}
	return nil, fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches,
		"More than one "+string(condition.Type)+" meets the criteria; at most one may.")
}

// without gives rawQuery less the parameters of these names, in order and as
// sent otherwise.
func without(rawQuery string, names ...string) string {
	var kept []string
	for part := range strings.SplitSeq(rawQuery, "&") {
		if part == "" {
			continue
		}
		name, _, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		drop := false
		for _, unwanted := range names {
			drop = drop || name == unwanted
		}
		if !drop {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// location is Response.Location of a version.
func location(key fhir.Key, versionID int64) string {
	return key.String() + "/_history/" + strconv.FormatInt(versionID, 10)
}

// single takes the failure of the one write of a transaction out of its
// *fhir.WriteError.
func single(err error) error {
	var failed *fhir.WriteError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
