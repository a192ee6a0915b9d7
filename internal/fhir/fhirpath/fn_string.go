package fhirpath

import (
	"strings"
	"unicode/utf8"
)

// http://hl7.org/fhirpath/N1/#string-manipulation
var stringFunctions = map[string]function{
	"upper":  onString(func(s string, _ []string) any { return strings.ToUpper(s) }, 0),
	"lower":  onString(func(s string, _ []string) any { return strings.ToLower(s) }, 0),
	"trim":   onString(func(s string, _ []string) any { return strings.TrimSpace(s) }, 0),
	"length": onString(func(s string, _ []string) any { return int64(utf8.RuneCountInString(s)) }, 0),
	"indexOf": onString(func(s string, args []string) any {
		return characterIndex(s, strings.Index(s, args[0]))
	}, 1),
	"lastIndexOf": onString(func(s string, args []string) any {
		return characterIndex(s, strings.LastIndex(s, args[0]))
	}, 1),
	"startsWith": onString(func(s string, args []string) any { return strings.HasPrefix(s, args[0]) }, 1),
	"endsWith":   onString(func(s string, args []string) any { return strings.HasSuffix(s, args[0]) }, 1),
	"contains":   onString(func(s string, args []string) any { return strings.Contains(s, args[0]) }, 1),
	"replace": onString(func(s string, args []string) any {
		if n := len(s) + strings.Count(s, args[0])*(len(args[1])-len(args[0])); n > maxString {
			return fault(nowhere, "the string grows over %d bytes", maxString)
		}
		return strings.ReplaceAll(s, args[0], args[1])
	}, 2),
	"substring": {1, 2, compileSubstring},
	"toChars": onItem(func(r *run, item Item) error {
		s, ok, err := item.string()
		if err != nil || !ok {
			return err
		}
		for _, c := range s {
			if err := r.pushValue(string(c)); err != nil {
				return err
			}
		}
		return nil
	}),
	"split": {1, 1, compileSplit},
	"join":  {0, 1, compileJoin},
}

// characterIndex counts characters up to a byte offset; -1 stays.
func characterIndex(s string, at int) int64 {
	if at < 0 {
		return -1
	}
	return int64(utf8.RuneCountInString(s[:at]))
}

// string is the item's String; ok is false for a primitive without a value,
// and anything else is an error.
func (i Item) string() (s string, ok bool, err error) {
	if s, ok := i.str(); ok {
		return s, true, nil
	}
	if i.isPrimitive() && !i.hasValue() {
		return "", false, nil
	}
	return "", false, fault(nowhere, "a String is needed here, not %s", i.describe())
}

// onString makes a function of a string and n string arguments; empty if any
// of them is. The result is a system value or an *Error.
func onString(apply func(s string, args []string) any, n int) function {
	return function{n, n, func(c *compiler, call invocation) (step, error) {
		steps, err := c.compileAll(call.args)
		if err != nil {
			return nil, err
		}
		recv := call.recv
		return func(r *run) error {
			s, args, ok, err := r.strings(recv, steps)
			if err != nil || !ok {
				return err
			}
			value := apply(s, args[:n])
			switch v := value.(type) {
			case *Error:
				return v
			case string:
				if len(v) > max(maxString, len(s)) {
					return fault(nowhere, "the string grows over %d bytes", maxString)
				}
			}
			return r.pushValue(value)
		}, nil
	}}
}

// strings evaluates a receiver and up to three arguments to strings.
func (r *run) strings(recv step, steps []step) (s string, args [3]string, ok bool, err error) {
	item, ok, err := r.single(recv)
	if err != nil || !ok {
		return "", args, false, err
	}
	if s, ok, err = item.string(); err != nil || !ok {
		return "", args, false, err
	}
	for i, step := range steps {
		arg, ok, err := r.text(step, nowhere)
		if err != nil || !ok {
			return "", args, false, err
		}
		args[i] = arg
	}
	return s, args, true, r.tick(len(s)/16 + 1)
}

func compileSubstring(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) error {
		s, _, ok, err := r.strings(recv, nil)
		if err != nil || !ok {
			return err
		}
		start, ok, err := r.integer(args[0], at)
		if err != nil || !ok {
			return err
		}
		length := int64(len(s))
		if len(args) == 2 {
			n, ok, err := r.integer(args[1], at)
			if err != nil {
				return err
			}
			if ok {
				length = n
			}
		}
		runes := []rune(s)
		if start < 0 || start >= int64(len(runes)) {
			return nil
		}
		end := min(start+max(length, 0), int64(len(runes)))
		return r.pushValue(string(runes[start:end]))
	}, nil
}

func compileSplit(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		s, separators, ok, err := r.strings(recv, args)
		if err != nil || !ok {
			return err
		}
		for part := range strings.SplitSeq(s, separators[0]) {
			if err := r.pushValue(part); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func compileJoin(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		separator := ""
		if len(args) == 1 {
			var err error
			if separator, _, err = r.text(args[0], at); err != nil {
				return err
			}
		}
		var b strings.Builder
		joined := false
		for i := from; i < len(r.stack); i++ {
			s, ok, err := r.stack[i].string()
			if err != nil {
				return err
			}
			if !ok {
				continue // a primitive with extensions alone
			}
			if b.Len()+len(s)+len(separator) > maxString {
				return fault(at, "the string grows over %d bytes", maxString)
			}
			if joined {
				b.WriteString(separator)
			}
			b.WriteString(s)
			joined = true
		}
		if !joined {
			r.cut(from)
			return nil
		}
		return r.settle(from, b.String())
	}, nil
}
