package transcript

import (
	"path"
	"slices"
	"strings"
)

// containerTools run a command elsewhere: in a container, a network namespace or a virtual machine. The value is whether the
// name of where follows before the command, and is no part of it.
var containerTools = map[string]bool{"kubectl exec": true, "oc exec": true, "k exec": true, "docker exec": true,
	"podman exec": true, "nerdctl exec": true, "lxc exec": true, "incus exec": true, "crictl exec": true, "ip netns exec": true,
	"docker-compose exec": true, "ip vrf exec": true, "minikube ssh": false, "nsenter": false}

// valuedFlags are the flags of those tools whose value is a word of its own.
var valuedFlags = strings.Fields("-n --namespace -c --container -u --user -e --env -w --workdir --context -t --target " +
	"--kubeconfig --index")

// inContainer is the command that runs in a container, without what only says in which: kubectl exec -it web-1 -- netstat -s.
func inContainer(words []string) []string {
	for n := 3; n > 0; n-- {
		if len(words) <= n {
			continue
		}
		named, known := containerTools[strings.Join(words[:n], " ")]
		if !known {
			continue
		}
		rest := words[n:]
		if at := slices.Index(rest, "--"); at >= 0 {
			rest = rest[at+1:]
		} else {
			nsenter := words[0] == "nsenter"
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				valued := slices.Contains(valuedFlags, rest[0]) && !(nsenter && rest[0] == "-n") && len(rest) > 1 &&
					!strings.HasPrefix(rest[1], "-")
				if valued && rest[0] == "-t" && !nsenter {
					valued = false // a terminal
				}
				if valued {
					rest = rest[1:]
				}
				rest = rest[1:]
			}
			if named && len(rest) > 0 {
				rest = rest[1:]
			}
		}
		for len(rest) > 1 && slices.Contains([]string{"time", "sudo"}, rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 0 || !isCommandName(rest[0]) {
			return words
		}
		rest = slices.Clone(rest)
		rest[0] = path.Base(rest[0])
		return rest
	}
	return words
}

func isCommandName(word string) bool { return tools()[path.Base(word)] }
