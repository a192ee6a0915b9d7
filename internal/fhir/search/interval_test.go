package search

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDate(t *testing.T) {
	for in, want := range map[string][2]string{
		"2012":                          {"2012-01-01T00:00:00Z", "2013-01-01T00:00:00Z"},
		"2012-02":                       {"2012-02-01T00:00:00Z", "2012-03-01T00:00:00Z"},
		"2012-12":                       {"2012-12-01T00:00:00Z", "2013-01-01T00:00:00Z"},
		"2012-02-29":                    {"2012-02-29T00:00:00Z", "2012-03-01T00:00:00Z"},
		"2012-02-29T10:00":              {"2012-02-29T10:00:00Z", "2012-02-29T10:01:00Z"},
		"2012-02-29T10:00+02:00":        {"2012-02-29T08:00:00Z", "2012-02-29T08:01:00Z"},
		"2012-02-29T10:00:05":           {"2012-02-29T10:00:05Z", "2012-02-29T10:00:06Z"},
		"2012-02-29T23:30:05-05:00":     {"2012-03-01T04:30:05Z", "2012-03-01T04:30:06Z"},
		"2012-02-29T10:00:05 01:00":     {"2012-02-29T09:00:05Z", "2012-02-29T09:00:06Z"},
		"2012-02-29T10:00:05.2Z":        {"2012-02-29T10:00:05.2Z", "2012-02-29T10:00:05.3Z"},
		"2012-02-29T10:00:05.123Z":      {"2012-02-29T10:00:05.123Z", "2012-02-29T10:00:05.124Z"},
		"2012-02-29T10:00:05.12345678Z": {"2012-02-29T10:00:05.123456Z", "2012-02-29T10:00:05.123457Z"},
		"2016-12-31T23:59:60Z":          {"2017-01-01T00:00:00Z", "2017-01-01T00:00:01Z"},
		"9999":                          {"9999-01-01T00:00:00Z", "10000-01-01T00:00:00Z"},
	} {
		low, next, ok := parseDate(in)
		if !ok || low.Format(time.RFC3339Nano) != want[0] || next.Format(time.RFC3339Nano) != want[1] {
			t.Errorf("parseDate(%q) = %v, %v, %v, want %v", in, low, next, ok, want)
		}
	}
	for _, in := range []string{
		"", "201", "20122", "2012-", "2012-13", "2012-00", "2012-1", "2012-02-30", "2012-02-3", "2012-02-29T", "2012-02-29T1",
		"2012-02-29T10", "2012-02-29T24:00", "2012-02-29T10:60", "2012-02-29T10:00:61", "2012-02-29T10:00:00.", "2012-02-29T10:00:00.Z",
		"2012-02-29T10:00:00X", "2012-02-29T10:00:00+0200", "2012-02-29T10:00:00+15:00", "2012-02-29T10:00:00Z ", "0000", "-2012", "x",
	} {
		if low, next, ok := parseDate(in); ok {
			t.Errorf("parseDate(%q) = %v, %v", in, low, next)
		}
	}
}

func TestParseDateHoldsItsInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(-62e15, 253e15).Draw(t, "at"))
		zone := time.FixedZone("", 60*rapid.IntRange(-12*60, 14*60).Draw(t, "zone"))
		layout := rapid.SampledFrom([]string{"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.000000Z07:00"}).Draw(t, "layout")
		text := at.In(zone).Format(layout)
		if at.In(zone).Year() > 9999 || at.In(zone).Year() < 1 {
			t.Skip("FHIR has no such year") // another draw is made
		}
		low, next, ok := parseDate(text)
		if !ok || at.Before(low) || !at.Before(next) {
			t.Fatalf("%s of %v: [%v, %v), %v", text, at, low, next, ok)
		}
	})
}
