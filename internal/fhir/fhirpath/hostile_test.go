package fhirpath

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"starling/internal/fhir/definition"
)

// hostile are expressions that try to take long, or much memory.
var hostile = []string{
	"descendants().descendants().descendants()",
	"descendants().where(%resource.descendants().where($this = %resource).exists())",
	"descendants().select(2.5.power(3.3))",
	"descendants().select(2.5.exp().ln().sqrt())",
	"descendants().select(1234567.89.log(3.3))",
	"descendants().select('1e1000'.toDecimal() / 3 mod 7)",
	"descendants().select('1e999'.toDecimal().toString().length())",
	"descendants().select(1 '[lne]8/[mi_us]8' < 1 '[mi_us]8.[lne]-8')",
	"descendants().select(1 'm' * 1 's' / 1 'g')",
	"descendants().select(('1 \\'m{' & $index.toString() & '}\\'').toQuantity() > 1 'km')",
	"descendants().select($this.toString().replaceMatches('(a|b)*', '$1$1'))",
	"descendants().isDistinct()",
	"descendants().intersect(%resource.descendants())",
	"descendants().exclude(%resource.descendants())",
	"descendants().subsetOf(%resource.descendants())",
	"descendants() ~ descendants()",
	"(descendants() | descendants()).count()",
	"descendants().combine(descendants()).combine(descendants()).combine(descendants())",
	"repeat($this | descendants())",
	"repeat(children())",
	"descendants().sort($this.toString(), -$this.toString())",
	"descendants().aggregate($total & 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '')",
	"descendants().aggregate($total | $this)",
	"descendants().aggregate($total.combine($this))",
	"descendants().select(@2020-01-01 + 1000000 days)",
	"descendants().select('2020-01-01T00:00:00.000Z'.toDateTime() > @2020)",
	"descendants().select(resolve())",
	"descendants().select('Patient/x'.resolve())",
	"descendants().select('" + strings.Repeat("a", 4096) + "'.upper().replace('A', 'bb').toChars().count())",
	"descendants().select('" + strings.Repeat("a", 4096) + "'.split('').join('x').indexOf('z'))",
	"descendants().select('" + strings.Repeat("a", 4096) + "'.encode('base64').decode('base64').encode('hex'))",
	"descendants().select('" + strings.Repeat("a", 4096) + "'.matches('(a+)+(a+)+$b'))",
	"descendants().select('" + strings.Repeat("a", 4096) + "' ~ '" + strings.Repeat("A", 4096) + "')",
	"descendants().select('" + strings.Repeat("9", 2000) + "'.toDecimal() * 1.5)",
	"descendants().select('<div>" + strings.Repeat("<p>a</p>", 500) + "</div>'.htmlChecks())",
	"'" + strings.Repeat("a", 4096) + "'" + strings.Repeat(".replace('a','aa')", 30),
	strings.Repeat("not().", 150) + "not()",
	"repeat($this.toString() & 'a')",
	"(1).repeat($this + 1)",
	"(1).repeat($this + 1 | $this + 2 | -$this)",
	"'a'.repeat($this & $this)",
	"descendants().repeat(%resource.descendants())",
	"descendants().select(%resource.descendants().toString().join(','))",
	"descendants().select('a').aggregate($total & $total & 'a', 'a').length()",
	"'a'" + strings.Repeat(".replace('a', 'aaaaaaaaaa').split('').join('aaaaaaaaaa')", 20),
	"'aaaaaaaaaa'" + strings.Repeat(".replace('', 'bbbbbbbbbb')", 50),
	"'aaaaaaaaaa'" + strings.Repeat(".replaceMatches('', 'bbbbbbbbbb')", 50),
	"'aaaaaaaaaa'" + strings.Repeat(".encode('hex')", 60),
	"('a' | 'b')" + strings.Repeat(".combine($this).combine($this)", 30) + ".count()",
	"(1)" + strings.Repeat(".combine($this | %resource.descendants())", 60) + ".count()",
	"descendants().union(descendants())" + strings.Repeat(".union(descendants())", 60),
	"descendants().select('" + strings.Repeat("a", 2000) + "'.matches('^(a|aa|a*)*(a?){500}(a{1,30}){1,30}$'))",
	"'" + strings.Repeat("a", 60_000) + "'.replaceMatches('a*b|a', '')",
	"descendants().select('" + strings.Repeat("a", 4000) + "'.replaceMatches('a*b|a', ''))",
	"descendants().select('" + strings.Repeat("a", 500) + "'.replaceMatches('(a{1,30}){1,30}b|a', ''))",
	"descendants().select($this.toString().replaceMatches('.*?', '$0$0$0$0$0$0$0$0'))",
	"'" + strings.Repeat("a", 4096) + "'.matches('" + strings.Repeat("(a*)*", 200) + "b')",
	"'" + strings.Repeat("a", 4096) + "'.matches(%resource.descendants().toString().join('|'))",
}

// TestHostileSyntax: no text takes long to be refused or compiled, however it
// nests.
func TestHostileSyntax(t *testing.T) {
	const many = 1_000_000
	for _, text := range []string{
		strings.Repeat("(", many), strings.Repeat("(", 60_000), strings.Repeat("((", 1000) + "1" + strings.Repeat("))", 1000),
		strings.Repeat("-", 60_000) + "1", strings.Repeat("a.", 30_000) + "a", strings.Repeat("a[", 20_000), strings.Repeat("iif(", 15_000),
		"a" + strings.Repeat("[0]", 20_000), "a" + strings.Repeat(" is a", 10_000), strings.Repeat("a|", 30_000) + "a", strings.Repeat("1+", 30_000) + "1",
		strings.Repeat("a.where(", 8000), strings.Repeat("'", 60_001), strings.Repeat("`", 60_001), strings.Repeat("/*", 30_000),
		strings.Repeat("9", 60_000), strings.Repeat("9", 30_000) + "." + strings.Repeat("9", 30_000), "@" + strings.Repeat("2", 60_000), strings.Repeat("%a", 30_000), strings.Repeat("not ", 15_000),
		strings.Repeat("a implies ", 6000) + "a", strings.Repeat("{}", 30_000), strings.Repeat("\x00", 60_000), strings.Repeat("a and (", 9000),
	} {
		began := processorTime(t)
		_, err := Compile(definition.R4(), text)
		if took := processorTime(t) - began; took > 100*time.Millisecond*slowdown {
			t.Errorf("%s took %s: %v", shortened(text), took, err)
		}
		if err == nil {
			t.Errorf("%s is accepted", shortened(text))
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", shortened(text), len(err.Error()))
		}
	}
}

// TestUserLimits: no expression keeps a processor for long under UserLimits,
// whatever the resource.
func TestUserLimits(t *testing.T) {
	entries := make([]string, 500)
	for i := range entries {
		entries[i] = strings.ReplaceAll(testObservation, "\n", "")
	}
	large := testItem(t, `{"resourceType":"Bundle","type":"collection","entry":[{"resource":`+strings.Join(entries, `},{"resource":`)+`}]}`)
	const limit = 100 * time.Millisecond * slowdown
	for _, text := range hostile {
		var took time.Duration
		e, err := Compile(definition.R4(), text)
		if err != nil {
			t.Errorf("%s: %v", shortened(text), err)
			continue
		}
		env := &Environment{Limits: UserLimits}
		for range 3 { // the first that is quick enough tells
			began := processorTime(t)
			_, err = e.Evaluate(env, large)
			if took = processorTime(t) - began; took < limit {
				break
			}
		}
		t.Logf("%8s %s: %v", took.Round(10*time.Microsecond), shortened(text), err)
		if took > limit {
			t.Errorf("%s took %s", shortened(text), took)
		}
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func shortened(text string) string {
	if len(text) > 90 {
		return text[:60] + "…" + text[len(text)-25:]
	}
	return text
}
