package fhirpath

import "testing"

func TestOperators(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"1 + 2 * 3 - 4", "System.Integer 3"},
		{"7 div 2", "System.Integer 3"},
		{"-7 mod 2", "System.Integer -1"},
		{"7 / 2", "System.Decimal 3.5"},
		{"0.1 + 0.2", "System.Decimal 0.3"},
		{"1.10 + 2", "System.Decimal 3.10"},
		{"12345678901234567890.12 * 10", "System.Decimal 123456789012345678901.20"},
		{"2147483647 + 1", ""},
		{"1 / 0 | 1 div 0 | 1 mod 0", ""},
		{"1 + 'a'", "error + does not take System.Integer and System.String"},
		{"1 = 1.0", "System.Boolean true"},
		{"'a' & {} & 'b'", "System.String ab"},
		{"{} + 1", ""},
		{"(1 | 2) + 1", "error one value is needed here, and there are 2"},
		{"true and {}", ""},
		{"false and (1 | 2)", "System.Boolean false"},
		{"{} or true", "System.Boolean true"},
		{"{} implies true", "System.Boolean true"},
		{"true xor false", "System.Boolean true"},
		{"name = name and name != name.first()", "System.Boolean true"},
		{"name.given ~ ('jim' | 'PETER' | 'james')", "System.Boolean false"},
		{"(1 | 2) ~ (2 | 1)", "System.Boolean true"},
		{"'A  b' ~ 'a B'", "System.Boolean true"},
		{"1 | 2 | 1 | 2.0", "System.Integer 1, System.Integer 2"},
		{"'Jim' in name.given", "System.Boolean true"},
		{"name.given contains 'Tim'", "System.Boolean false"},
		{"1 in {}", "System.Boolean false"},
		{"{} in (1 | 2)", ""},
		{"'a' < 'B'", "System.Boolean false"},
		{"name < 1", "error one value"},
		{"name.first() < 1", "error HumanName and System.Integer cannot be compared"},
	})
}

func TestTemporal(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"@2020-01-31 + 1 month", "System.Date 2020-02-29"},
		{"@2021-01-31 + 1 month", "System.Date 2021-02-28"},
		{"@2020-02-29 - 1 year", "System.Date 2019-02-28"},
		{"@2020-03-31 - 1 month", "System.Date 2020-02-29"},
		{"@2020 + 25 months", "System.Date 2022"},
		{"@2020-01 + 45 days", "System.Date 2020-02"},
		{"@2020-12-31T23:59:59.999Z + 1 millisecond", "System.DateTime 2021-01-01T00:00:00.000Z"},
		{"@T23:30 + 1 hour", "System.Time 00:30"},
		{"@T00:15 - 30 minutes", "System.Time 23:45"},
		{"@2020-01-01 + 1 'mo'", "error 'mo' cannot be added to a Date"},
		{"@9999-12-31 + 1 day", ""},
		{"@0001-01-01 - 1 year", ""},
		{"@2020 = @2020-01", ""},
		{"@2020 < @2021-01", "System.Boolean true"},
		{"@2020-01-01T10:00:00Z = @2020-01-01T12:00:00+02:00", "System.Boolean true"},
		{"@2020-01-01T10:00:00Z < @2020-01-01T12:00:00", ""},
		{"@2020-01-01T10:00:00Z < @2020-01-03T12:00:00", "System.Boolean true"},
		{"@2020-01-03T10:00:00 > @2020-01-01T12:00:00Z", "System.Boolean true"},
		{"@2020-01-01T10:00:00.5 = @2020-01-01T10:00:00.500", "System.Boolean true"},
		{"@2020-01-01 = @T10:00", "System.Boolean false"},
		{"@2020-01-01 < @T10:00", "error Date and System.Time cannot be compared"},
		{"birthDate < @1980", "System.Boolean true"},
		{"birthDate.toString()", "System.String 1974-12-25"},
		{"birthDate + 1 week", "System.Date 1975-01-01"},
		{"'2020-02-30'.toDate()", ""},
		{"@2020-02-03T04:05:06.789.toDate()", "System.Date 2020-02-03"},
		{"@2020-02.highBoundary()", "System.Date 2020-02-29"},
		{"@2020-02-01T10:30.highBoundary()", "System.DateTime 2020-02-01T10:30:59.999-12:00"},
		{"now().toString().length()", "System.Integer 24"},
		{"now() = now()", "System.Boolean true"},
	})
}

func TestQuantities(t *testing.T) {
	check(t, testItem(t, testObservation), [][2]string{
		{"value = 185 '[lb_av]'", "System.Boolean true"},
		{"value > 100 '[lb_av]'", "System.Boolean true"},
		{"value > 100 'kg'", ""},
		{"1 'min' = 60 's' and 1 hour = 60 minutes", "System.Boolean true"},
		{"1 year = 12 months", "System.Boolean true"},
		{"1 year = 1 'a'", ""},
		{"1 year ~ 1 'a'", "System.Boolean true"},
		{"1 year > 1 day", ""},
		{"1 'mg' + 2.50 'mg'", "System.Quantity 3.50 'mg'"},
		{"2 'mg' * 3", "System.Quantity 6 'mg'"},
		{"6 'mg' / 3 'mg'", "System.Quantity 2 '1'"},
		{"90 minutes.toQuantity('hour')", "System.Quantity 1.5 hour"},
		{"-(3 'mg')", "System.Quantity -3 'mg'"},
	})
}
