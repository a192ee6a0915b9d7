package coherence

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// timesOf summarises durations.
func timesOf(all []time.Duration) Times {
	if len(all) == 0 {
		return Times{}
	}
	sorted := slices.Sorted(slices.Values(all))
	return Times{Count: len(sorted), P50: millis(quantile(sorted, 0.5)), P99: millis(quantile(sorted, 0.99)), Max: millis(sorted[len(sorted)-1])}
}

// quantile is the least value that so many are not above.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// spread is the median of some values, and their least and greatest.
type spread struct{ median, low, high float64 }

func spreadOf[T any](all []T, value func(T) float64) spread {
	if len(all) == 0 {
		return spread{}
	}
	values := make([]float64, len(all))
	for i, v := range all {
		values[i] = value(v)
	}
	slices.SortFunc(values, cmp.Compare[float64])
	middle := len(values) / 2
	median := values[middle]
	if len(values)%2 == 0 {
		median = (values[middle-1] + values[middle]) / 2
	}
	return spread{median, values[0], values[len(values)-1]}
}

// Interval is a mean and the ends of its 95 % confidence interval, of Student's
// distribution.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

// student is the 97.5 % quantile by degrees of freedom, from 1.
var student = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// normal is that of the normal distribution, for more.
const normal = 1.96

func intervalOf(values []float64) Interval {
	n := len(values)
	i := Interval{N: n, Low: math.Inf(-1), High: math.Inf(1)}
	if n == 0 {
		return Interval{}
	}
	for _, v := range values {
		i.Mean += v / float64(n)
	}
	if n == 1 {
		i.Low, i.High = i.Mean, i.Mean // no interval: N says so, and JSON has no infinity
		return i
	}
	variance := 0.0
	for _, v := range values {
		variance += (v - i.Mean) * (v - i.Mean) / float64(n-1)
	}
	t := normal
	if n-2 < len(student) {
		t = student[n-2]
	}
	half := t * math.Sqrt(variance/float64(n))
	i.Low, i.High = i.Mean-half, i.Mean+half
	return i
}
