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
