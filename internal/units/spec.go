package units

import (
	"fmt"
	"strings"
)

// Field is one key=value of a specification such as "rate=1gbit,rtt=80ms".
type Field struct {
	Key, Value string
}

// KeyOf names the key that a value without one can only be of: rate for 1gbit,
// rtt for 80ms.
func KeyOf(value string) (key string, ok bool) {
	value = strings.TrimSpace(value)
	lower := strings.ToLower(value)
	if _, err := ParseRate(value); err == nil && (strings.HasSuffix(lower, "bit") || strings.HasSuffix(lower, "/s") ||
		strings.HasSuffix(lower, "bps")) {
		return "rate", true
	}
	if _, err := ParseDuration(value); err == nil && strings.HasSuffix(lower, "s") {
		return "rtt", true
	}
	return "", false
}

// ParseFields splits a comma-separated list of key=value, or of values whose key KeyOf knows. Keys are lower-cased
// and may occur once; empty specifications, keys and values are errors.
func ParseFields(spec string) ([]Field, error) {
	if strings.TrimSpace(spec) == "" {
		return nil, fmt.Errorf("empty specification; write key=value,key=value")
	}
	var fields []Field
	seen := map[string]bool{}
	for _, part := range strings.Split(spec, ",") {
		if key, ok := KeyOf(part); ok {
			part = key + "=" + part
		}
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
