package link

import (
	"fmt"
	"strings"
)

// noProfile is the error of a first field without a value that is no profile.
func noProfile(name string) error {
	if isField(name) {
		return noValue(name)
	}
	if key, value, ok := strings.Cut(name, ":"); ok && isField(key) {
		return fmt.Errorf("%q is not key=value; write %s=%s", name, key, value)
	}
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return fmt.Errorf("%q is neither key=value nor a profile (%s); see: wirerate lab profiles", name,
		strings.Join(names, ", "))
}

// noValue is the error of a field without a value.
func noValue(name string) error {
	if _, ok := FindProfile(name); ok {
		return fmt.Errorf("%q is a profile; only one is allowed, at the beginning", name)
	}
	if isField(name) {
		return fmt.Errorf("%s has no value; write %s=VALUE", name, name)
	}
	return fmt.Errorf("%q is not key=value", name)
}

func isField(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "up:"), "down:")
	for _, f := range (Direction{}).fields() {
		if f.key == name {
			return true
		}
	}
	switch name {
	case "rtt", "mtu", "seed", "framing", "backend":
		return true
	}
	return false
}

// otherName returns what to write instead of a name that other programs have.
func otherName(key string) (instead string, known bool) {
	switch key {
	case "bandwidth", "bw", "speed", "capacity", "throughput":
		return "rate=100mbit", true
	case "latency", "lat", "owd":
		return "delay=40ms in one direction, or rtt=80ms there and back", true
	case "ping":
		return "rtt=80ms", true
	case "buffer", "buf", "limit", "qlen", "qsize":
		return "queue=256KiB, 100packets, 50ms or 1bdp", true
	case "drop", "plr", "lossrate":
		return "loss=0.1%", true
	case "dup":
		return "duplicate=0.1%", true
	case "qdisc":
		return "aqm=codel", true
	case "profile":
		return "its name alone at the beginning, like dsl,loss=0.1%", true
	}
	return "", false
}
