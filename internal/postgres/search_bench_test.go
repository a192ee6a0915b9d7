package postgres

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// BenchmarkSearchKinds reports the latency of each kind of query in a clinic of
// CLINIC_RESOURCES (50,000), one client, in milliseconds: the median, and the
// worst of at least 20, or of as many as take 2 seconds.
//
//	CLINIC_RESOURCES=500000 go test -run '^$' -bench SearchKinds -benchtime 1x ./internal/postgres
func BenchmarkSearchKinds(b *testing.B) {
	n := 50_000
	if text := os.Getenv("CLINIC_RESOURCES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	s := openClinic(b, n)
	for _, kind := range searchKinds {
		b.Run(kind.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(3, 4))
			var took []time.Duration
			for start := time.Now(); len(took) < max(b.N, 20) && (len(took) < 2 || time.Since(start) < 2*time.Second); {
				query := kind.query(random, n/clinicOfPatient)
				at := time.Now()
				page, err := kind.run(context.Background(), s, query)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(at))
				b.ReportMetric(float64(max(len(page.Matches), int(page.Total))), "matches")
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "P50-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "worst-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
