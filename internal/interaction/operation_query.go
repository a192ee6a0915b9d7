package interaction

import (
	"net/url"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// asSearch makes the call of an operation that answers as a search does a
// request for that search, whose page links are GETs: the parameters of its
// body stand in the query.
func (c *call) asSearch() *Request {
	request := *c.Request
	sent := []string{without(request.RawQuery)}
	request.Query = url.Values{}
	for name, values := range c.Query {
		request.Query[name] = slices.Clone(values)
	}
	for _, p := range c.parameters {
		if p.kind != ofPrimitive || slices.Contains(c.Query[p.name], p.text) {
			continue
		}
		request.Query.Add(p.name, p.text)
		sent = append(sent, url.QueryEscape(p.name)+"="+url.QueryEscape(p.text))
	}
	request.RawQuery = strings.Trim(strings.Join(sent, "&"), "&")
	return &request
}

// dateRange reads a parameter that is a date or a time; zero if it is not there.
func dateRange(query url.Values, name string) (fhir.TimeRange, error) {
	text, err := onlyValue(query, name)
	if err != nil || text == "" {
		return fhir.TimeRange{}, err
	}
	r, err := parseDateTime(text)
	if err != nil {
		return r, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, name+" is "+quote(text)+"; a date or a time was expected, such as 2024-02-29.")
	}
	return r, nil
}
