package coherence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// metric sums what all servers say of a metric, over its labels; false if none
// has it.
func (d *deployment) metric(ctx context.Context, name string) (sum float64, found bool, err error) {
	for _, instance := range d.instances {
		answer, err := d.client.Do(ctx, http.MethodGet, "http://"+instance.Admin()+"/metrics", nil)
		if err != nil {
			return 0, false, err
		}
		if answer.Status != http.StatusOK {
			return 0, false, fmt.Errorf("metrics of %s: status %d", instance.Name(), answer.Status)
		}
		value, has := sumOf(string(answer.Body), name)
		sum, found = sum+value, found || has
	}
	return sum, found, nil
}

// sumOf reads a metric in the text format, summed over its labels. A name may
// have labels itself.
func sumOf(text, name string) (sum float64, found bool) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		fields := strings.Fields(rest)
		if value, err := strconv.ParseFloat(fields[len(fields)-1], 64); err == nil {
			sum, found = sum+value, true
		}
	}
	return sum, found
}

// awaitTransport waits until all servers use the transport they were told to:
// while it does not work they use another.
func (d *deployment) awaitTransport(ctx context.Context, transport string) error {
	sample := fmt.Sprintf("starling_cache_transport{transport=%q}", transport)
	err := until(ctx, func() (bool, error) {
		using, _, err := d.metric(ctx, sample)
		return int(using) == len(d.instances), err
	})
	if errors.Is(err, errPatience) {
		return fmt.Errorf("not all servers use the transport %s after %v: see their logs", transport, patience)
	}
	return err
}
