package record

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

func TestRecorder(t *testing.T) {
	r := NewRecorder([]Key{{"create", "Patient"}, {"read", "Patient"}, {"create", "Claim"}})
	for i := range 100 {
		r.Record(Outcome{Key: 0, Latency: time.Duration(i+1) * time.Millisecond, Measured: true})
	}
	r.Record(Outcome{Key: 1, Latency: time.Hour, Measured: true, Kind: "timeout", Sample: "first"})
	r.Record(Outcome{Key: 2, Latency: time.Second, Measured: true, Kind: "timeout", Sample: "second"})
	r.Record(Outcome{Key: 2, Latency: time.Second, Kind: "status 500"}) // in the warm-up
	second := r.NextSecond()
	if second.Requests != 103 || second.Errors != 3 {
		t.Errorf("second %+v", second)
	}
	if again := r.NextSecond(); again.Requests != 0 || again.Errors != 0 {
		t.Errorf("next second %+v", again)
	}
	result := Result{Schema: Schema, MeasuredSeconds: 10}
	r.Fill(&result)
	if result.Total.Requests != 102 || result.Total.Errors != 2 || result.Total.RPS != 10 {
		t.Errorf("total %+v", result.Total)
	}
	create := result.Interactions[0]
	if create.Interaction != "create" || create.Requests != 101 || create.Errors != 1 {
		t.Errorf("creates %+v", create)
	}
	if l := result.Requests[0].Latency; l.P50 < 49.9 || l.P50 > 50.1 || l.P99 < 98.9 || l.P99 > 99.1 || l.Min != 1 {
		t.Errorf("latency %+v", l)
	}
	if got := result.Requests[1].Latency.Max; got < longest.Seconds()*1000*0.999 {
		t.Errorf("latency beyond the longest is %v ms", got)
	}
	if len(result.Errors) != 1 || result.Errors[0].Count != 2 || result.Errors[0].Sample != "first" {
		t.Errorf("errors %+v", result.Errors)
	}
	var out bytes.Buffer
	if err := result.Write(&out); err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Total != result.Total {
		t.Errorf("%v: %+v", err, back.Total)
	}
	if err := result.Summary(&out); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := NewRecorder([]Key{{"create", "Patient"}})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Record(Outcome{Latency: 5 * time.Millisecond, Measured: true})
		}
	})
}
