package cluster

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// metric gives the sum of an instance's metrics whose name and labels begin so.
func (c *cluster) metric(t testing.TB, instance int, prefix string) (sum float64) {
	t.Helper()
	response, err := http.Get("http://" + c.admin[instance] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, prefix) {
			value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += value
		}
	}
	return sum
}

// bothServed fails the test if nginx left an instance out: then it showed
// nothing about two.
func (c *cluster) bothServed(t testing.TB) {
	t.Helper()
	for i := range c.servers {
		if served := c.metric(t, i, "starling_requests_total{"); served < 20 {
			t.Errorf("instance %d served %v requests only", i+1, served)
		}
	}
}
