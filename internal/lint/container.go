package lint

import (
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// hosts finds a setting of the whole machine among those that a container is started with.
func hosts(r *catalog.Record, e conffile.Entry) *finding {
	if e.Has(conffile.HostNetwork) && strings.HasPrefix(e.Name, "net.") && r.Scope != catalog.ScopeHost {
		return &finding{code: "wrong-file", severity: Error,
			sources: []string{"docker-container-run(1), --sysctl: not allowed with --network=host", "Kubernetes, kubelet: net sysctls with hostNetwork"},
			message: e.Name + " cannot be set for a container in the host's network: set it on the host",
			because: "The container runtime refuses it, since it would change the host, and the container does not start."}
	}
	if !e.Has(conffile.Container) || r.Scope != catalog.ScopeHost {
		return nil
	}
	f := &finding{code: "wrong-file", severity: Error,
		sources: []string{"docker-container-run(1), --sysctl", "Kubernetes, Using sysctls in a Kubernetes Cluster",
			"opencontainers/runc libcontainer/configs/validate, sysctl"},
		message: e.Name + " applies to the whole host and cannot be set for a container: set it on the host",
		because: "The container runtime refuses it, because it belongs to no namespace, and the container does not start."}
	if strings.HasPrefix(e.Name, "net.") {
		f.because = "The file is missing or read-only in the container's network namespace, so the container does not start."
	}
	return f
}
