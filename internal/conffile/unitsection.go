package conffile

import (
	"slices"
	"strings"
	"sync"
)

// unitHomes are the settings of units that are often written in another section than their own, by this section
// (systemd/systemd src/core/load-fragment-gperf.gperf.in). A name that ends in * stands for all that begin so.
var unitHomes = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"Unit": strings.Fields(`After AllowIsolate Assert* Before BindsTo Condition* Conflicts DefaultDependencies Description Documentation
			IgnoreOnIsolate JobTimeoutSec JoinsNamespaceOf OnFailure OnSuccess PartOf RefuseManualStart RefuseManualStop Requires
			RequiresMountsFor Requisite StartLimitIntervalSec StopWhenUnneeded SuccessAction Upholds Wants`),
		"Service": strings.Fields(`AmbientCapabilities BusName CapabilityBoundingSet CPUAffinity CPUQuota CPUSchedulingPolicy
			CPUSchedulingPriority Environment EnvironmentFile ExecCondition ExecReload ExecStart ExecStartPost ExecStartPre ExecStop
			ExecStopPost Group IOSchedulingClass KillMode KillSignal LimitAS LimitCORE LimitCPU LimitDATA LimitFSIZE LimitLOCKS
			LimitMEMLOCK LimitMSGQUEUE LimitNICE LimitNOFILE LimitNPROC LimitRSS LimitRTPRIO LimitRTTIME LimitSIGPENDING LimitSTACK
			MemoryHigh MemoryMax Nice NoNewPrivileges OOMScoreAdjust PIDFile PrivateTmp ProtectHome ProtectSystem RemainAfterExit
			Restart RestartSec RuntimeDirectory Slice StandardError StandardOutput SyslogIdentifier TasksMax TimeoutSec
			TimeoutStartSec TimeoutStopSec Type UMask User WatchdogSec WorkingDirectory`),
		"Install": strings.Fields("Alias Also DefaultInstance RequiredBy UpheldBy WantedBy"),
	}
})

// misplacedInUnit refuses a setting of a unit of systemd that stands in another section than its own.
func (s *scanner) misplacedInUnit(section string, e Entry) {
	homes := unitHomes()
	if homes[section] == nil {
		return
	}
	for _, home := range []string{"Unit", "Service", "Install"} {
		if home == section || !slices.ContainsFunc(homes[home], func(name string) bool {
			begin, open := strings.CutSuffix(name, "*")
			return name == e.Key || open && strings.HasPrefix(e.Key, begin)
		}) {
			continue
		}
		s.rejected(Reject{Line: e.Line, Span: e.KeySpan, Code: "wrong-file", certain: true,
			Reason:  e.Key + " belongs in [" + home + "], and [" + section + "] has no setting of that name",
			Because: "systemd warns of an unknown key in the journal and ignores the line."})
		return
	}
}
