package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// header begins the file. The notice is what the licence of UCUM asks for.
const header = `# The units of UCUM, the Unified Code for Units of Measure (https://ucum.org/ucum), case sensitive.
#
# This material contains content from UCUM (http://ucum.org). UCUM is copyright (c) 1999-2024, Regenstrief
# Institute, Inc. and the UCUM Organization, and is available under the license at http://ucum.org/license.
# It is provided "as is"; any express or implied warranties are disclaimed.
#
# Built by internal/tools/ucum from the tables of the npm package %s
# (SHA-256 of prefixes.ts and units.ts: %s).
# Do not edit. Fields are separated by tabs:
#
#	prefix  CODE  FACTOR
#	unit    CODE  KIND  metric|-  VALUE  UNIT
#
# KIND is base, ratio (the unit is VALUE UNIT), arbitrary (comparable with itself alone), or the name of the
# function of a special unit, whose corresponding unit is VALUE UNIT.
`

// arbitrary are the units of procedure-defined meaning
// (https://ucum.org/ucum#section-Arbitrary-Units), which the package does not
// tell apart. [IU] is not among them, for it is defined by [iU].
var arbitrary = strings.Fields(`[hp_X] [hp_C] [hp_M] [hp_Q] [kp_X] [kp_C] [kp_M] [kp_Q] [iU] [arb'U] [USP'U]
	[GPL'U] [MPL'U] [APL'U] [beth'U] [anti'Xa'U] [todd'U] [dye'U] [smgy'U] [bdsk'U] [ka'U] [knk'U] [mclg'U] [tb'U]
	[CCID_50] [TCID_50] [EID_50] [PFU] [FFU] [CFU] [IR] [BAU] [AU] [Amb'a'1'U] [PNU] [Lf] [D'ag'U] [FEU] [ELU] [EU]
	[NTU] [FNU]`)

// text gives the embedded file: sorted by code, so that a new release of the
// source is a readable difference.
func (s *source) text() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, header, sourcePackage, s.sha256)
	for _, code := range slices.Sorted(maps.Keys(s.prefixes)) {
		fmt.Fprintf(&b, "prefix\t%s\t%s\n", code, s.prefixes[code].Value)
	}
	for _, code := range arbitrary {
		if u := s.units[code]; u.Value.Unit != "1" || u.Value.Value != "1" {
			return nil, fmt.Errorf("%s is no arbitrary unit: it is %s %s", code, u.Value.Value, u.Value.Unit)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(s.units)) {
		line, err := s.units[code].line(code)
		if err != nil {
			return nil, err
		}
		b.WriteString(line)
	}
	return b.Bytes(), nil
}

func (u sourceUnit) line(code string) (string, error) {
	kind, value, unit := "ratio", u.Value.Value, u.Value.Unit
	switch {
	case u.Base:
		kind = "base"
	case u.Special && u.Value.Function == nil:
		return "", fmt.Errorf("%s is special and has no function", code)
	case u.Special:
		kind, value, unit = u.Value.Function.Name, u.Value.Function.Value, u.Value.Function.Unit
	case slices.Contains(arbitrary, code):
		kind = "arbitrary"
	}
	if strings.ContainsAny(code+kind+value+unit, " \t\n") || value == "" || unit == "" {
		return "", fmt.Errorf("%s has an unexpected definition: %q %q %q", code, kind, value, unit)
	}
	metric := "-"
	if u.Metric {
		metric = "metric"
	}
	return strings.Join([]string{"unit", code, kind, metric, value, unit}, "\t") + "\n", nil
}
