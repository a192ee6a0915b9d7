package interaction

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"starling/internal/fhir"
)

// The number of entries a page has, unless _count says otherwise, and the most
// it may have.
const (
	defaultCount = 50
	maxCount     = 1000
)

// cursorParameter carries the store's cursor in links to other pages. Those
// are self-contained: any instance serves any page.
const cursorParameter = "_cursor"

// history lists the versions of a resource, a type or the system, newest first
// (https://hl7.org/fhir/R4/http.html#history).
func (s *Service) history(ctx context.Context, request *Request) (*Response, error) {
	query, err := historyQuery(request)
	if err != nil {
		return nil, err
	}
	f, err := parseForm(request.Query)
	if err != nil {
		return nil, err
	}
	countOnly := query.Count == 0 || f.summary == summaryCount
	query.Count = max(query.Count, 1)
	page, err := s.Store.History(ctx, query)
	if err != nil {
		return nil, err
	}
	if request.ID != "" && len(page.Versions) == 0 && query.Cursor == "" {
		// Nothing in that time, or nothing at all.
		if _, err := s.Store.Read(ctx, fhir.Key{Type: request.Type, ID: request.ID}); err != nil {
			return nil, err
		}
	}
	b := newBundle("history", page.Horizon)
	b.total(page.Total)
	b.link("self", pageURL(request, request.RawQuery))
	if !countOnly {
		if page.Next != "" {
			next := without(request.RawQuery, cursorParameter) + "&" + cursorParameter + "=" + url.QueryEscape(page.Next)
			b.link("next", pageURL(request, strings.TrimPrefix(next, "&")))
		}
		for _, version := range page.Versions {
			if err := s.addVersion(b, request.Base, version, f); err != nil {
				return nil, err
			}
		}
	}
	return &Response{Status: StatusOK, Body: b.end(), LastUpdated: page.Horizon}, nil
}

// addVersion adds a history entry: how the version came about, and the
// resource unless it was deleted.
func (s *Service) addVersion(b *bundle, base string, version *fhir.Resource, f form) (err error) {
	b.entry()
	b.fullURL(base, version.Key)
	if !version.Deleted() {
		b.member("resource")
		if b.json, err = s.appendForm(b.json, version, f); err != nil {
			return err
		}
	}
	b.member("request")
	b.json = appendString(append(b.json, `{"method":`...), version.Method.String())
	at := version.Key.String()
	if version.Method == fhir.MethodPost {
		at = string(version.Type)
	}
	b.json = append(appendString(append(b.json, `,"url":`...), at), '}')
	status := StatusOK
	switch {
	case version.Deleted():
		status = StatusNoContent
	case version.Method == fhir.MethodPost, version.VersionID == 1:
		status = StatusCreated
	}
	b.response(base, &answer{status: status, etag: ETagOf(version.VersionID), lastUpdated: version.LastUpdated})
	b.close()
	return nil
}

// historyQuery reads the parameters of a history. Count is 0 if the client
// asked for no entries.
func historyQuery(request *Request) (*fhir.HistoryQuery, error) {
	query := &fhir.HistoryQuery{Type: request.Type, ID: request.ID}
	var err error
	if query.Count, err = count(request.Query); err != nil {
		return nil, err
	}
	since, err := onlyValue(request.Query, "_since")
	if err != nil {
		return nil, err
	}
	if since != "" {
		if query.Since, err = parseInstant(since); err != nil {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
				"_since is "+quote(since)+"; an instant was expected, such as 2024-02-29T13:28:17.239+02:00.")
		}
	}
	at, err := onlyValue(request.Query, "_at")
	if err != nil {
		return nil, err
	}
	if at != "" {
		if query.At, err = parseDateTime(at); err != nil {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
				"_at is "+quote(at)+"; a date or dateTime was expected, such as 2024-02.")
		}
	}
	if query.Cursor, err = onlyValue(request.Query, cursorParameter); err != nil {
		return nil, err
	}
	return query, checkKnown(request, "_count", "_since", "_at", cursorParameter, "_format", "_pretty", "_summary", "_elements")
}

// checkKnown refuses parameters beyond these if the client wants strict
// handling (https://hl7.org/fhir/R4/search.html#errors).
func checkKnown(request *Request, names ...string) error {
	if request.Handling != HandlingStrict {
		return nil
	}
	rest, err := url.ParseQuery(without(request.RawQuery, names...))
	if err != nil {
		return err
	}
	for name := range rest {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "The parameter "+quote(name)+" is not known here.")
	}
	return nil
}

// count reads _count: a page's entries, cut to the most a page may have.
func count(query url.Values) (int, error) {
	text, err := onlyValue(query, "_count")
	if err != nil || text == "" {
		return defaultCount, err
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "_count is "+quote(text)+"; a number from 0 on was expected.")
	}
	return min(int(n), maxCount), nil
}

// pageURL is the URL of the request with that query.
func pageURL(request *Request, rawQuery string) string {
	at := request.Base
	if request.Type != "" {
		at += "/" + string(request.Type)
	}
	if request.ID != "" {
		at += "/" + request.ID
	}
	switch request.Interaction {
	case HistoryInstance, HistoryType, HistorySystem:
		at += "/_history"
	case SearchCompartment:
		at += "/" + request.CompartmentType
	case Operation:
		at += "/$" + request.Operation
	}
	if rawQuery == "" {
		return at
	}
	return at + "?" + rawQuery
}

// parseInstant reads a FHIR instant (https://hl7.org/fhir/R4/datatypes.html#instant).
func parseInstant(text string) (time.Time, error) {
	// A + that was not escaped arrives as a space.
	return time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "+", 1))
}

// parseDateTime reads a FHIR dateTime, which may stop at any part, as the time
// it stands for (https://hl7.org/fhir/R4/datatypes.html#dateTime). Without a
// zone it is in UTC.
func parseDateTime(text string) (fhir.TimeRange, error) {
	text = strings.Replace(text, " ", "+", 1)
	layouts := []struct {
		layout string
		end    func(time.Time) time.Time
	}{
		{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
		{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
		{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
		{"2006-01-02T15:04", func(t time.Time) time.Time { return t.Add(time.Minute) }},
		{"2006-01-02T15:04Z07:00", func(t time.Time) time.Time { return t.Add(time.Minute) }},
		{"2006-01-02T15:04:05", func(t time.Time) time.Time { return t.Add(precision(text)) }},
		{"2006-01-02T15:04:05Z07:00", func(t time.Time) time.Time { return t.Add(precision(text)) }},
	}
	var err error
	for _, candidate := range layouts {
		var low time.Time
		if low, err = time.Parse(candidate.layout, text); err == nil {
			return fhir.TimeRange{Low: low.UTC(), High: candidate.end(low).UTC()}, nil
		}
	}
	return fhir.TimeRange{}, err
}

// precision is the unit of a time's last digit: a second, or a part of it down
// to the store's millisecond.
func precision(text string) time.Duration {
	_, fraction, _ := strings.Cut(text, ".")
	unit := time.Second
	for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && unit > time.Millisecond; i++ {
		unit /= 10
	}
	return unit
}
