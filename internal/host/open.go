package host

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Open connects to a HOST as the command line names it: local (or nothing),
// ns:NAME, ssh://[user@]name[:port], or the path of a capture.
func Open(ctx context.Context, name string, opt SSHOptions) (Conn, error) {
	switch {
	case name == "" || name == "local":
		return NewLocal(), nil
	case strings.HasPrefix(name, "ns:"):
		agent, err := openNamespace(ctx, strings.TrimPrefix(name, "ns:"))
		if err != nil {
			return nil, err
		}
		return agent, nil
	case strings.HasPrefix(name, "ssh:"):
		ssh, err := openSSH(ctx, name, opt)
		if err != nil {
			return nil, err
		}
		return ssh, nil
	}
	if _, err := os.Stat(name); err != nil && strings.Contains(name, "@") {
		return nil, fmt.Errorf("host %q: did you mean ssh://%s?", name, name)
	} else if err != nil {
		return nil, fmt.Errorf("host %q: write local, ns:NAME, ssh://user@name or the path of a capture: %w", name, err)
	}
	c, err := LoadCapture(name)
	if err != nil {
		return nil, err
	}
	return NewReplay(c), nil
}
