package units

import (
	"fmt"
	"strings"
)

// Field is one key=value of a specification such as "rate=1gbit,rtt=80ms".
type Field struct {
	Key, Value string
}

// ParseFields splits a comma-separated list of key=value. Keys are lower-cased
// and may occur once; empty specifications, keys and values are errors.
func ParseFields(spec string) ([]Field, error) {
	if strings.TrimSpace(spec) == "" {
		return nil, fmt.Errorf("empty specification; write key=value,key=value")
	}
	var fields []Field
	seen := map[string]bool{}
	for _, part := range strings.Split(spec, ",") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !ok || key == "" || value == "" {
			return nil, fmt.Errorf("%q is not key=value", strings.TrimSpace(part))
		}
		if seen[key] {
			return nil, fmt.Errorf("%q is given twice", key)
		}
		seen[key] = true
		fields = append(fields, Field{key, value})
	}
	return fields, nil
}
