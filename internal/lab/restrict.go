package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
)

// Restrictions says what the hosts of a lab cannot set although the machine
// has it, each with the command that would allow it. A network namespace may
// choose only among the congestion control algorithms that the machine allows
// to everybody; the list is the initial namespace's to change.
func (l *Lab) Restrictions(ctx context.Context) ([]string, error) {
	answers, err := l.Client().Do(ctx, host.Read("/proc/sys/net/ipv4/tcp_available_congestion_control"),
		host.Read("/proc/sys/net/ipv4/tcp_allowed_congestion_control"))
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	machine, err := host.NewLocal().Do(ctx, host.Read("/proc/sys/net/ipv4/tcp_available_congestion_control"))
	if err != nil {
		return nil, err
	}
	allowed := strings.Fields(answers[1].Text())
	has := append(strings.Fields(answers[0].Text()), strings.Fields(machine[0].Text())...)
	return restricted(has, allowed), nil
}

// restricted compares what the machine has with what is allowed.
func restricted(has, allowed []string) []string {
	if len(allowed) == 0 {
		return nil // unknown: nothing can be said
	}
	slices.Sort(has)
	var missing []string
	for _, name := range slices.Compact(has) {
		if !slices.Contains(allowed, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	all := strings.Join(append(slices.Clone(allowed), missing...), " ")
	return []string{fmt.Sprintf("congestion control %s cannot be made a lab host's default; to allow it, outside "+
		"the lab: sysctl -w net.ipv4.tcp_allowed_congestion_control=%q", strings.Join(missing, ", "), all)}
}
