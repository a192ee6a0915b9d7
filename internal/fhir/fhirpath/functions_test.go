package fhirpath

import (
	"strings"
	"sync"
	"testing"
	"time"

	"starling/internal/fhir/definition"
)

func TestCollectionFunctions(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"name.given.count()", "System.Integer 4"},
		{"name.given.first() | name.given.last()", "string Peter, string Jim"},
		{"name.given.tail().take(2)", "string, string James"},
		{"name.given.skip(-1).count()", "System.Integer 4"},
		{"name.given.skip(9)", ""},
		{"name.all(given.exists())", "System.Boolean true"},
		{"{}.all(false)", "System.Boolean true"},
		{"name.exists(use = 'usual')", "System.Boolean true"},
		{"(true | false).allTrue()", "System.Boolean false"},
		{"(true | false).anyFalse()", "System.Boolean true"},
		{"(1 | 2 | 3).intersect(3 | 1 | 5)", "System.Integer 1, System.Integer 3"},
		{"(1 | 2 | 3).exclude(2)", "System.Integer 1, System.Integer 3"},
		{"(1 | 2).combine(2 | 3)", "System.Integer 1, System.Integer 2, System.Integer 2, System.Integer 3"},
		{"(1 | 2).subsetOf(1 | 2 | 3) and (1 | 2 | 3).supersetOf(1 | 2)", "System.Boolean true"},
		{"(3 | 1 | 2).sort()", "System.Integer 1, System.Integer 2, System.Integer 3"},
		{"name.sort(-use).use", "code usual, code official"},
		{"(1 | 2 | 3 | 4).aggregate($this * $total, 1)", "System.Integer 24"},
		{"(1).repeat(iif($this < 5, $this + 1, {}))", "System.Integer 2, System.Integer 3, System.Integer 4, System.Integer 5"},
		{"(name.given | name.family).join('+')", "System.String Peter+James+Jim+van der Berg"},
		{"{}.join(',')", ""},
		{"deceased.join(',')", ""},
		{"name.single()", "error single() needs one item at most, and there are 2"},
		{"name[1].given", "string Jim"},
		{"name[5]", ""},
		{"iif(active, 'yes', 1 / 'a')", "System.String yes"},
		{"name.select(use & ':' & given.first())", "System.String official:Peter, System.String usual:Jim"},
		{"name.where($this.use = 'usual').given.select($this & '!')", "System.String Jim!"},
		{"(0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 1.0 | 9).distinct().count()", "System.Integer 10"},
		{"descendants().ofType(string).isDistinct()", "System.Boolean true"},
	})
}

func TestStringFunctions(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"'häuser'.substring(1, 2)", "System.String äu"},
		{"'häuser'.indexOf('u')", "System.Integer 2"},
		{"'banana'.lastIndexOf('an')", "System.Integer 3"},
		{"'häuser'.length()", "System.Integer 6"},
		{"'abc'.replaceMatches('(b)(c)', '$2$1')", "System.String acb"},
		{"'a,b,'.split(',')", "System.String a, System.String b, System.String"},
		{"'abc'.matches('B')", "System.Boolean false"},
		{"'é'.toChars().count()", "System.Integer 1"},
		{"name.upper()", "error one value"},
		{"name.first().upper()", "error a String is needed here, not HumanName"},
		{"gender.upper()", "System.String MALE"},
		{"'a'.encode('rot13')", "error unknown format 'rot13'"},
		{"('x').repeat($this + $this).first().length()", "error the string grows over"},
	})
}

func TestConversionFunctions(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"'+5'.toInteger()", "System.Integer 5"},
		{"'1.50'.toDecimal()", "System.Decimal 1.50"},
		{"'1e5'.toDecimal()", ""},
		{"'yes'.toBoolean()", "System.Boolean true"},
		{"1.50.toString()", "System.String 1.50"},
		{"'2015-02-04T14:34'.toDateTime()", "System.DateTime 2015-02-04T14:34"},
		{"'14:34'.convertsToTime()", "System.Boolean true"},
		{"name.convertsToString()", "error one value"},
		{"active.toInteger()", "System.Integer 1"},
	})
}

func TestMathFunctions(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"(-0.06).floor()", "System.Integer -1"},
		{"0.001.ceiling()", "System.Integer 1"},
		{"(-1.5).truncate()", "System.Integer -1"},
		{"2.5.round()", "System.Decimal 3"},
		{"1.005.round(2)", "System.Decimal 1.01"},
		{"2.power(10)", "System.Integer 1024"},
		{"2.power(-1)", "System.Decimal 0.5"},
		{"8.log(2)", "System.Decimal 3"},
		{"(-1).sqrt() | 0.ln()", ""},
		{"99999.9.power(99999)", ""},
		{"'a'.abs()", "error a number is needed here, not System.String"},
	})
}

func TestHTMLChecks(t *testing.T) {
	for div, want := range map[string]bool{
		`<div xmlns="http://www.w3.org/1999/xhtml"><p style="color:red">Hi &nbsp; &copy;</p></div>`: true,
		`<div><img src="#a" alt="x"/></div>`:        true,
		"<div>\u00a0</div>":                         true,
		`<div> <p/> </div>`:                         false,
		`<div><script>alert(1)</script></div>`:      false,
		`<div onclick="x()">a</div>`:                false,
		`<div><a href="javascript:x()">a</a></div>`: false,
		`<div>a`:                   false,
		`<p>a</p>`:                 false,
		`<div>a</div><div>b</div>`: false,
		`<!DOCTYPE a><div>a</div>`: false,
		``:                         false,
	} {
		if got := htmlAllowed(div); got != want {
			t.Errorf("%s: got %v", div, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	focus := testItem(t, testPatient)
	traced := ""
	env := &Environment{
		Now:       time.Date(2020, 5, 6, 7, 8, 9, 0, time.UTC),
		Variables: map[string]Collection{"x": {Value("a"), Value(int64(2))}},
		MemberOf: func(item Item, valueSet string) (bool, bool) {
			return item.Text() == "male", valueSet == "http://example.org/vs"
		},
		ConformsTo: func(_ Item, profile string) (bool, bool) { return true, profile == "http://example.org/p" },
		Trace:      func(name string, values Collection) { traced += name + "=" + show(values) },
	}
	for _, c := range [][2]string{
		{"%x", "System.String a, System.Integer 2"},
		{"%y", "error unknown variable %y"},
		{"now()", "System.DateTime 2020-05-06T07:08:09.000Z"},
		{"today()", "System.Date 2020-05-06"},
		{"timeOfDay()", "System.Time 07:08:09.000"},
		{"gender.memberOf('http://example.org/vs')", "System.Boolean true"},
		{"gender.memberOf('http://example.org/other')", ""},
		{"conformsTo('http://example.org/p')", "System.Boolean true"},
		{"conformsTo('http://example.org/q')", "error unknown profile"},
		{"gender.trace('g')", "code male"},
	} {
		e, err := Compile(definition.R4(), c[0])
		if err != nil {
			t.Fatal(err)
		}
		result, err := e.Evaluate(env, focus)
		got := show(result)
		if err != nil {
			got = err.Error()
		}
		if want := strings.TrimPrefix(c[1], "error "); got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
	if traced != "g=code male" {
		t.Errorf("traced %q", traced)
	}
}

func TestLimits(t *testing.T) {
	for expr, want := range map[string]string{
		"(1).repeat($this + 1)":                                                         "too many steps",
		"('ab').repeat($this & $this)":                                                  "grows over",
		"(1).repeat(iif($this < 2147483647, $this + 1, {}))":                            "too many steps",
		"descendants().select(%resource.descendants().select(%resource.descendants()))": "too many",
	} {
		e, err := Compile(definition.R4(), expr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Evaluate(&Environment{Limits: Limits{Items: 1_000, Steps: 50_000}}, testItem(t, testPatient))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", expr, err)
		}
	}
}

func TestTest(t *testing.T) {
	for expr, want := range map[string][2]bool{
		"name.exists()":                    {true, true},
		"name.empty()":                     {false, true},
		"birthDate < @1973":                {false, true},
		"birthDate < @1974-12-25T10:00:00": {false, false},
		"gender":                           {true, true},
	} {
		e, err := Compile(definition.R4(), expr)
		if err != nil {
			t.Fatal(err)
		}
		value, known, err := e.Test(nil, testItem(t, testPatient))
		if err != nil || value != want[0] || known != want[1] {
			t.Errorf("%s: got %v, %v, %v", expr, value, known, err)
		}
	}
}

func TestCheckModifiers(t *testing.T) {
	check(t, testItem(t, `{"resourceType":"Patient","modifierExtension":[{"url":"http://example.org/m","valueBoolean":true}]}`), [][2]string{
		{"checkModifiers('http://example.org/m')", "Patient"},
		{"checkModifiers('http://example.org/n')", "error unknown modifier extension http://example.org/m"},
	})
}

// One expression serves all types at once, whatever its places remember.
func TestConcurrent(t *testing.T) {
	e := mustCompile(t, "(Patient.name.given | Observation.component.value.ofType(string)).count()")
	patient, observation := testItem(t, testPatient), testItem(t, testObservation)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				for want, focus := range map[string]Item{"4": patient, "1": observation} {
					result, err := e.Evaluate(nil, focus)
					if err != nil || len(result) != 1 || result[0].Text() != want {
						t.Errorf("got %s, %v", show(result), err)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

// Arrays with "_name" beside them are walked in linear time.
func TestLongArrays(t *testing.T) {
	names := strings.Repeat(`"a",`, 50_000) + `"b"`
	extras := strings.Repeat(`null,`, 50_000) + `{"id":"x"}`
	focus := testItem(t, `{"resourceType":"Patient","name":[{"given":[`+names+`],"_given":[`+extras+`]}]}`)
	began := time.Now()
	result, err := mustCompile(t, "name.given.distinct() | name.given.where(id.exists()) | name.where($this = %resource.name).given.first()").Evaluate(nil, focus)
	if err != nil || show(result) != "string a, string b" {
		t.Errorf("got %s, %v", show(result), err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}
