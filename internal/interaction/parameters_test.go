package interaction

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"starling/internal/fhir"
)

func TestHistoryQuery(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for query, want := range map[string]fhir.HistoryQuery{
		"":                                 {Count: defaultCount},
		"_count=3":                         {Count: 3},
		"_count=0":                         {},
		"_count=100000":                    {Count: maxCount},
		"_since=2024-02-29T13:28:17.5Z":    {Count: defaultCount, Since: day("2024-02-29T13:28:17.5Z")},
		"_since=2024-02-29T13:28:17+02:00": {Count: defaultCount, Since: day("2024-02-29T11:28:17Z")},
		"_at=2024":                         {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-01-01T00:00:00Z"), High: day("2025-01-01T00:00:00Z")}},
		"_at=2024-02":                      {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-02-01T00:00:00Z"), High: day("2024-03-01T00:00:00Z")}},
		"_at=2024-02-29":                   {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-02-29T00:00:00Z"), High: day("2024-03-01T00:00:00Z")}},
		"_at=2024-02-29T10:00%2B01:00":     {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-02-29T09:00:00Z"), High: day("2024-02-29T09:01:00Z")}},
		"_at=2024-02-29T10:00:01Z":         {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-02-29T10:00:01Z"), High: day("2024-02-29T10:00:02Z")}},
		"_at=2024-02-29T10:00:01.25Z":      {Count: defaultCount, At: fhir.TimeRange{Low: day("2024-02-29T10:00:01.25Z"), High: day("2024-02-29T10:00:01.26Z")}},
		"_cursor=xyz&_format=json&other=1": {Count: defaultCount, Cursor: "xyz"},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := historyQuery(&Request{Query: values, RawQuery: query})
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if got.Count != want.Count || got.Cursor != want.Cursor || !got.Since.Equal(want.Since) ||
			!got.At.Low.Equal(want.At.Low) || !got.At.High.Equal(want.At.High) {
			t.Errorf("%s: got %+v", query, got)
		}
	}
	for _, query := range []string{
		"_count=-1", "_count=x", "_count=1&_count=2", "_since=2024", "_since=2024-02-29", "_since=2024-02-30T00:00:00Z",
		"_since=2024-02-29T13:28:17Z&_since=2024-02-29T13:28:17Z", "_at=x", "_at=2024-13", "_at=2024&_at=2025", "other=1",
	} {
		values, _ := url.ParseQuery(query)
		_, err := historyQuery(&Request{Query: values, RawQuery: query, Handling: HandlingStrict})
		if Failure(err).Kind != fhir.KindInvalid {
			t.Errorf("%s: error %v", query, err)
		}
	}
}

func TestWithout(t *testing.T) {
	if got := without("a=1&_format=json&b=%20&_%66ormat=x&&a=2&_pretty", "_format", "_pretty"); got != "a=1&b=%20&a=2" {
		t.Error(got)
	}
}

func TestParseETag(t *testing.T) {
	for tag, want := range map[string]int64{`W/"3"`: 3, `"3"`: 3, `3`: 3, ` W/"12" `: 12} {
		if got, ok := parseETag(tag); !ok || got != want {
			t.Errorf("%s: %d", tag, got)
		}
	}
	for _, tag := range []string{``, `W/""`, `W/"x"`, `"0"`, `"-1"`, `"+1"`, `"01"`, `"`, `"99999999999999999999"`} {
		if got, ok := parseETag(tag); ok {
			t.Errorf("%s: %d", tag, got)
		}
	}
}

func TestUnchanged(t *testing.T) {
	at := time.Date(2024, 2, 29, 13, 28, 17, 500e6, time.UTC)
	resource := &fhir.Resource{VersionID: 3, LastUpdated: at}
	for _, c := range []struct {
		request Request
		want    bool
	}{
		{Request{}, false},
		{Request{IfNoneMatch: `W/"3"`}, true},
		{Request{IfNoneMatch: `W/"1", W/"3"`}, true},
		{Request{IfNoneMatch: `*`}, true},
		{Request{IfNoneMatch: `W/"2"`}, false},
		{Request{IfModifiedSince: at.Truncate(time.Second)}, true},
		{Request{IfModifiedSince: at.Add(-time.Second)}, false},
		{Request{IfNoneMatch: `W/"2"`, IfModifiedSince: at.Add(time.Hour)}, false},
	} {
		if got := unchanged(&c.request, resource); got != c.want {
			t.Errorf("%+v: %v", c.request, got)
		}
	}
}

func TestRefusalKind(t *testing.T) {
	of := func(codes ...fhir.IssueType) []fhir.Issue {
		issues := []fhir.Issue{{Severity: fhir.SeverityWarning, Code: fhir.IssueInvalid}}
		for _, code := range codes {
			issues = append(issues, fhir.Issue{Severity: fhir.SeverityError, Code: code})
		}
		return issues
	}
	if err := refusal(of()); err != nil {
		t.Errorf("warnings refuse: %v", err)
	}
	for _, code := range []fhir.IssueType{fhir.IssueStructure, fhir.IssueInvalid, fhir.IssueRequired, fhir.IssueValue} {
		if got := Failure(refusal(of(fhir.IssueInvariant, code, fhir.IssueExtension))).Kind; got != fhir.KindInvalid {
			t.Errorf("%s: kind %d", code, got)
		}
	}
	for _, code := range []fhir.IssueType{fhir.IssueInvariant, fhir.IssueCodeInvalid, fhir.IssueBusinessRule, fhir.IssueExtension} {
		if got := Failure(refusal(of(code))).Kind; got != fhir.KindUnprocessable {
			t.Errorf("%s: kind %d", code, got)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\t\x01é\xff𝄞")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		want := s
		if !utf8.ValidString(s) {
			want = string([]rune(s))
		}
		want = strings.ReplaceAll(want, "\x00", "\ufffd")
		if got != want {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func FuzzParseDateTime(f *testing.F) {
	f.Add("2024-02-29T10:00:01.25+01:00")
	f.Add("2024-02")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parseDateTime(text); err == nil && !got.Low.Before(got.High) {
			t.Errorf("%q is [%s, %s)", text, got.Low, got.High)
		}
	})
}
