package validation

import (
	"strings"
	"testing"

	"starling/internal/fhir"
)

// Each format with values it takes and values it does not.
func TestPrimitiveFormats(t *testing.T) {
	for name, values := range map[string]struct{ good, bad []string }{
		"integer":     {[]string{"0", "1", "-1", "2147483647", "-2147483648"}, []string{"-0", "1.0", "1e3", "2147483648", "-2147483649", "99999999999999999999"}},
		"unsignedInt": {[]string{"0", "2147483647"}, []string{"-1", "2147483648", "0.5"}},
		"positiveInt": {[]string{"1", "2147483647"}, []string{"0", "-1", "2147483648", "1e0"}},
		"string":      {[]string{"a", " a ", " ", "\t\r\n", "é\u00a0", strings.Repeat("é", 1<<20)}, []string{"\x01", "a\x1f", strings.Repeat("é", 1<<20) + "x"}},
		"markdown":    {[]string{"# a\n\n* b", " "}, []string{"\x0b"}},
		"code":        {[]string{"a", "a b", "a-b_c", "\u00a0", "é è"}, []string{" a", "a ", "a  b", " ", "a\tb", "a\nb", "a\x00"}},
		"id":          {[]string{"a", "A-1.b", strings.Repeat("x", 64)}, []string{"a_b", "a b", "é", strings.Repeat("x", 65)}},
		"uri":         {[]string{"urn:x", "http://a/b?c#d", "#", "é", "urn:oid:1.2.3", "urn:uuid:C757873D-EC9A-4326-A141-556F43239520"}, []string{"a b", " a", "a\n", "a\tb", "urn:oid:1.a", "urn:oid:3.1", "urn:uuid:1"}},
		"url":         {[]string{"http://a"}, []string{"http://a b", "urn:oid:1", "urn:uuid:1"}},
		"canonical":   {[]string{"http://a|1.0#x", "urn:oid:X.Y.Z"}, []string{"http://a |1"}},
		"oid":         {[]string{"urn:oid:1.2.3", "urn:oid:2.16.840.1", "urn:oid:0.0"}, []string{"1.2.3", "urn:oid:3.1", "urn:oid:1", "urn:oid:1.", "urn:oid:1.02", "urn:oid:1..2", "urn:oid:1.a"}},
		"uuid": {
			[]string{"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"},
			[]string{"c757873d-ec9a-4326-a141-556f43239520", "urn:uuid:C757873D-EC9A-4326-A141-556F43239520", "urn:uuid:c757873d-ec9a-4326-a141-556f4323952", "urn:uuid:c757873dxec9a-4326-a141-556f43239520", "urn:uuid:g757873d-ec9a-4326-a141-556f43239520"},
		},
		"date": {
			[]string{"2026", "2026-12", "2026-12-31", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"},
			[]string{"0000", "26", "202", "2026-", "2026-13", "2026-00", "2026-1", "2026-12-", "2026-12-32", "2026-12-00", "2026-04-31", "2023-02-29", "1900-02-29", "2026-12-31T00:00:00Z", " 2026", "2026-12-3a", "20x6", "2026/12"},
		},
		"dateTime": {
			[]string{"2026", "2026-12", "2026-12-31", "2026-12-31T23:59:59Z", "2026-12-31T23:59:60Z", "2026-12-31T00:00:00.123456789+14:00", "2026-12-31T00:00:00-13:59", "2024-02-29T12:00:00+00:00"},
			[]string{"2026-12-31T", "2026-12T00:00:00Z", "2026-12-31T23:59", "2026-12-31T23:59Z", "2026-12-31T23:59:59", "2026-12-31T24:00:00Z", "2026-12-31T23:60:00Z", "2026-12-31T23:59:61Z", "2026-12-31T23:59:59.Z", "2026-12-31T23:59:59+14:01", "2026-12-31T23:59:59+15:00", "2026-12-31T23:59:59+1:00", "2026-12-31T23:59:59z", "2026-12-31 23:59:59Z", "2026-02-30T00:00:00Z", "2026-12-31T23:59:59ZZ", "T23:59:59Z"},
		},
		"instant": {
			[]string{"2026-12-31T23:59:59Z", "2026-12-31T23:59:59.001+01:00"},
			[]string{"2026", "2026-12", "2026-12-31", "2026-12-31T23:59:59", "2026-12-31T23:59Z"},
		},
		"time":         {[]string{"00:00:00", "23:59:60", "12:30:00.5"}, []string{"24:00:00", "12:30", "12:60:00", "12:30:00Z", "12:30:00.", "1:30:00", "12:30:61"}},
		"base64Binary": {[]string{"YQ==", "YWI=", "YWJj", "YW\r\nJj", " YWJj ", "+/+/"}, []string{"YQ", "YQ=", "Y===", "YQ==YQ==", "YW-_", "====", " ", "YWJjé"}},
	} {
		for _, value := range values.good {
			if f := primitives[name].fault(value); f != nil {
				t.Errorf("%s %.40q: %s", name, value, f.message)
			}
		}
		for _, value := range values.bad {
			if primitives[name].fault(value) == nil {
				t.Errorf("%s %.40q was accepted", name, value)
			}
		}
	}
	if f := stringFault(strings.Repeat("x", 1<<20+1)); f == nil || f.code != fhir.IssueTooLong {
		t.Errorf("a string that is too long: %v", f)
	}
}

func TestNarrative(t *testing.T) {
	div := func(inside string) string { return `<div xmlns="http://www.w3.org/1999/xhtml">` + inside + `</div>` }
	for _, test := range []struct {
		text string
		want *fault
	}{
		{div("a"), nil},
		{" " + div("<p>a<br/>b</p><!-- c -->") + "\n", nil},
		{`<div xmlns='http://www.w3.org/1999/xhtml' class = "x" ><a href="http://a?b&amp;c">d</a></div >`, nil},
		{div(`<img src="#x" alt="y"/>`), nil},
		{div(`&nbsp;&eacute;&#233;&#xE9;&apos;`), nil},
		{div("\u00a0"), nil},
		{div(`<![CDATA[a < b & c]]>`), nil},
		{div(`<table><tbody><tr><td colspan="2" style="x">é</td></tr></tbody></table>`), nil},
		{div(div("a")), nil},

		{div(`<a href="javascript:alert(1)">a</a>`), narrativeScript},
		{div(`<a href=" Java&#x09;Script&colon;alert(1)">a</a>`), narrativeMalformed}, // &colon; is none of HTML 4
		{div(`<a href=" Java&#x09;Script&#58;alert(1)">a</a>`), narrativeScript},
		{div(`<img src="VBSCRIPT:x" alt="y"/>`), narrativeScript},
		{div(`<a href="http://a/javascript:b" title="javascript: a language">a</a>`), nil},
		{"a", narrativeRoot},
		{"<p>a</p>", narrativeRoot},
		{"<div>a</div>", narrativeRoot},
		{`<div xmlns="http://example.org">a</div>`, narrativeRoot},
		{`<divx xmlns="http://www.w3.org/1999/xhtml">a</divx>`, narrativeRoot},
		{div("a") + div("b"), narrativeRoot},
		{div("a") + "b", narrativeRoot},
		{div("a</p>"), narrativeMalformed},
		{div("<p>a"), narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml">a`, narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml"`, narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml" class="a" class="b">a</div>`, narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml"class="a">a</div>`, narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml" nowrap>a</div>`, narrativeMalformed},
		{`<div xmlns="http://www.w3.org/1999/xhtml" class="<">a</div>`, narrativeMalformed},
		{div("a & b"), narrativeMalformed},
		{div("a &unknown; b"), narrativeMalformed},
		{div("a &#0; b"), narrativeMalformed},
		{div("a &#xD800; b"), narrativeMalformed},
		{div("a < b"), narrativeMalformed},
		{div("a <!-- b -- c --> d"), narrativeMalformed},
		{div("a <!-- b"), narrativeMalformed},
		{div("a<?php x ?>"), narrativeMalformed},
		{div("<script>a</script>"), narrativeElement},
		{div("<form>a</form>"), narrativeElement},
		{div("<P>a</P>"), narrativeElement},
		{div(`<p onclick="a">b</p>`), narrativeAttribute},
		{div(" \n<p>\t</p>"), narrativeEmpty},
		{div(""), narrativeEmpty},
		{`<div xmlns="http://www.w3.org/1999/xhtml"/>`, narrativeEmpty},
		{div(strings.Repeat("<b>", 100_000)), narrativeMalformed},
	} {
		got := narrativeFault(test.text)
		if got == test.want {
			continue
		}
		// One of these names what it is about.
		if got == nil || test.want == nil || got.key != test.want.key || !strings.HasPrefix(got.message, test.want.message+": ") {
			t.Errorf("%.100q: %v; want %v", test.text, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	members := map[string]*member{"name": nil, "gender": nil, "birthDate": nil, "_birthDate": nil, "multipleBirthBoolean": nil, "id": nil}
	for name, want := range map[string]string{
		"nam": "name", "naem": "name", "Name": "name", "birthdate": "birthDate", "brithDate": "birthDate", "gendre": "gender",
		"multipleBirthBolean": "multipleBirthBoolean", "surname": "", "x": "", "ix": "id", "": "", strings.Repeat("name", 100): "",
	} {
		if got := nearest(name, members); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
	}
}
