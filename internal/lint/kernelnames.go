package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// kernelModules are modules of Linux that tuning files name, and all of the families
// tcp_, sch_, nf_conntrack and nf_nat (torvalds/linux v6.12, with those removed since 4.18).
var kernelModules = strings.Fields(`br_netfilter bonding vhost_net wireguard virtio_net ip_tables ip6_tables
	iptable_nat iptable_filter iptable_mangle iptable_raw ip6table_filter ip6table_nat ip6table_mangle ip6table_raw
	mlx4_core mlx4_en mlx5_core mlx5_ib ixgbe ixgb ixgbevf e1000 e1000e nft_nat virtio_blk vmxnet3 bnx2 bnx2x bnxt_en
	ib_ipoib ib_iser ib_isert ib_srp ib_srpt sunrpc cfg80211 mac80211
	tcp_bbr tcp_bic tcp_cdg tcp_cubic tcp_dctcp tcp_diag tcp_highspeed tcp_htcp tcp_hybla tcp_illinois tcp_lp tcp_nv
	tcp_scalable tcp_sigpool tcp_vegas tcp_veno tcp_westwood tcp_yeah
	sch_atm sch_cake sch_cbq sch_cbs sch_choke sch_codel sch_drr sch_dsmark sch_dualpi2 sch_etf sch_ets sch_fq
	sch_fq_codel sch_fq_pie sch_gred sch_hfsc sch_hhf sch_htb sch_ingress sch_mqprio sch_mqprio_lib sch_multiq sch_netem
	sch_pie sch_plug sch_prio sch_qfq sch_red sch_sfb sch_sfq sch_skbprio sch_taprio sch_tbf sch_teql
	nf_conntrack nf_conntrack_amanda nf_conntrack_bridge nf_conntrack_broadcast nf_conntrack_ftp nf_conntrack_h323
	nf_conntrack_ipv4 nf_conntrack_ipv6 nf_conntrack_irc nf_conntrack_netbios_ns nf_conntrack_netlink nf_conntrack_pptp
	nf_conntrack_sane nf_conntrack_sip nf_conntrack_snmp nf_conntrack_tftp
	nf_nat nf_nat_amanda nf_nat_ftp nf_nat_h323 nf_nat_irc nf_nat_pptp nf_nat_sip nf_nat_snmp_basic nf_nat_tftp`)

// moduleParameters are the parameters of modules that files give others to, all of
// them (modinfo of Linux 6.12; bonding also of newer releases).
func moduleParameters(module string) (parameters []string, known bool) {
	texts := map[string]string{
		"ixgbe": "allow_unsupported_sfp debug max_vfs", "igb": "debug max_vfs", "i40e": "debug", "iavf": "", "ice": "debug",
		"igc": "debug", "bnxt_en": "", "ena": "", "vmxnet3": "", "r8169": "", "tg3": "tg3_debug",
		"e1000e": `CrcStripping IntMode InterruptThrottleRate KumeranLockLoss RxAbsIntDelay RxIntDelay
			SmartPowerDownEnable TxAbsIntDelay TxIntDelay WriteProtectNVM copybreak debug`,
		"virtio_net": "csum gso napi_tx napi_weight", "mlx5_core": "debug_mask prof_sel",
		"bonding": `ad_select all_slaves_active arp_all_targets arp_interval arp_ip_target arp_validate downdelay
			fail_over_mac lacp_active lacp_rate lp_interval max_bonds miimon min_links mode num_grat_arp num_unsol_na
			packets_per_slave primary primary_reselect resend_igmp tx_queues updelay use_carrier xmit_hash_policy`,
		"nf_conntrack": "acct enable_hooks expect_hashsize hashsize nf_conntrack_helper tstamp",
		"tcp_bbr":      "", "tcp_westwood": "", "sch_fq": "", "br_netfilter": "", "wireguard": "", "bridge": "",
		"tcp_htcp": "use_bandwidth_switch use_rtt_scaling",
		"tcp_cubic": `beta bic_scale fast_convergence hystart hystart_ack_delta hystart_ack_delta_us hystart_detect
			hystart_low_window initial_ssthresh tcp_friendliness`,
	}
	text, known := texts[module]
	return strings.Fields(text + " dyndbg async_probe"), known
}

// kernelParameters are parameters of the command line that tuning guides set.
var kernelParameters = strings.Fields(`isolcpus nohz_full rcu_nocbs rcu_nocb_poll mitigations transparent_hugepage
	hugepages hugepagesz default_hugepagesz intel_iommu amd_iommu pcie_aspm irqaffinity skew_tick nosoftlockup
	nmi_watchdog nowatchdog clocksource intel_pstate amd_pstate numa_balancing selinux apparmor spectre_v2
	spec_store_bypass_disable threadirqs maxcpus nr_cpus biosdevname swapaccount crashkernel elevator`)

// weakening are parameters that switch off a protection, on processors that need it or
// everywhere.
var weakening = strings.Fields(`nosmap nosmep nokaslr nospectre_v1 nospectre_v2 spectre_v2=off spectre_v2_user=off
	spec_store_bypass_disable=off nospec_store_bypass_disable l1tf=off mds=off tsx_async_abort=off
	srbds=off mmio_stale_data=off retbleed=off spec_rstack_overflow=off gather_data_sampling=off apparmor=0`)

// kernelName judges names of modules, of their parameters, of parameters of the kernel
// and of files of /sys and /proc that the catalog does not have.
func (k *checker) kernelName(e conffile.Entry) *finding {
	if k.system != catalog.Linux || strings.ContainsAny(e.Name, "${}<>") {
		return nil
	}
	rest, isModule := strings.CutPrefix(e.Name, "module:")
	if module, parameter, option := strings.Cut(rest, "/"); isModule && option {
		return cmp.Or(k.optionOfNone(e, module), moduleOption(module, parameter))
	}
	if isModule && e.Value == "load" {
		return k.moduleName(rest)
	}
	if parameter, ok := strings.CutPrefix(e.Name, "cmdline:"); ok {
		if slices.Contains(weakening, strings.TrimSuffix(e.Key+"="+e.Value, "=")) {
			return &finding{code: "weakens-security", severity: Warning, sources: []string{
				"torvalds/linux v6.12 Documentation/admin-guide/kernel-parameters.txt"},
				message: strings.TrimSuffix(e.Key+"="+e.Value, "=") + " switches off a protection of the kernel",
				because: "Programs, or holes of the kernel, then have an easier way to the memory of others."}
		}
		known := oneSlipFrom(strings.ReplaceAll(parameter, "-", "_"), kernelParameters)
		if known == "" || len(parameter) < 6 {
			return nil
		}
		return misspelt(parameter, "parameter", known, "The kernel hands a word that it does not know to init, which ignores it.",
			"torvalds/linux v6.12 Documentation/admin-guide/kernel-parameters.txt")
	}
	if strings.HasPrefix(e.Name, "/sys/") || strings.HasPrefix(e.Name, "/proc/irq/") {
		return k.misspeltFile(e)
	}
	return nil
}

// optionOfNone judges the name of a module that gets an option.
func (k *checker) optionOfNone(e conffile.Entry, module string) *finding {
	if k.kindOf(e) != conffile.Modprobe {
		return nil
	}
	near := oneSlipFrom(module, kernelModules)
	if near == "" || len(module) < 5 || withoutDigits(near) == withoutDigits(module) { // mlx4_ib beside mlx5_ib
		return nil
	}
	return misspelt(module, "module", near, "modprobe gives the options to a module of that name alone, so that they have no effect.",
		"modprobe.d(5)")
}

// moduleOption judges a parameter of a module.
func moduleOption(module, parameter string) *finding {
	all, known := moduleParameters(module)
	if !known || slices.Contains(all, strings.ReplaceAll(parameter, "-", "_")) {
		return nil
	}
	f := &finding{code: "unknown-key", severity: Warning,
		message: fmt.Sprintf("%s is no parameter of the kernel's own module %s", parameter, module),
		because: "The kernel loads the module and ignores the parameter; drivers from elsewhere may have it.",
		sources: []string{"torvalds/linux v6.12 kernel/module/main.c, unknown_module_param_cb", "modinfo(8)"}}
	if near := oneSlipFrom(parameter, all); near != "" {
		f.message += "; did you mean " + near + "?"
	}
	return f
}

// moduleName judges the name of a module that is to be loaded.
func (k *checker) moduleName(name string) *finding {
	if plain, cut := strings.CutSuffix(name, ".ko"); cut {
		return &finding{code: "bad-value", severity: Warning, sources: []string{"modules-load.d(5)", "modprobe(8)"},
			message: fmt.Sprintf("a module is named without its file's ending: %s", plain),
			because: "No module has the name " + name + ", so that nothing is loaded."}
	}
	near := oneSlipFrom(name, kernelModules)
	if near == "" {
		return nil
	}
	f := misspelt(name, "module", near, "Nothing is loaded, and what needs the module is refused.", "modprobe(8)")
	if slices.Contains(patched, strings.TrimPrefix(name, "tcp_")) {
		f.because = "It is in patched kernels only; one without the patch has no such module."
	}
	return f
}

// misspeltFile judges a file of /sys or /proc/irq that is a slip from one in the
// catalog, in one part of its path.
func (k *checker) misspeltFile(e conffile.Entry) *finding {
	ours := strings.Split(e.Name, "/")
	near := ""
	for _, name := range k.names {
		if name[0] != '/' || strings.Count(name, "/") != len(ours)-1 {
			continue
		}
		slips, other := 0, false
		for i, part := range strings.Split(name, "/") {
			few := 1 + len(part)/12
			switch {
			case part == ours[i] || part == "*":
			case other || slips > 0: // one part alone may be wrong
				other = true
			case len(part) > 5 && max(len(part)-len(ours[i]), len(ours[i])-len(part)) <= few &&
				spelling.Edits(part, ours[i]) <= few:
				slips++
			default:
				other = true
			}
		}
		if !other && slips == 0 {
			return nil
		}
		if !other && slips == 1 {
			near = name
		}
	}
	if near == "" {
		return nil
	}
	return misspelt(e.Key, "file", near, "The shell cannot write it, and nothing is set.", "sysfs(5)")
}

// oneSlipFrom returns the first of the words that one slip lies to, "" where the word
// is one of them or near none.
func oneSlipFrom(word string, words []string) string {
	if slices.Contains(words, word) {
		return ""
	}
	i := slices.IndexFunc(words, func(w string) bool { return len(w) > 3 && spelling.Slip(w, word) })
	if i < 0 {
		return ""
	}
	return words[i]
}

// misspelt is the finding of a name that the kernel does not have.
func misspelt(name, what, near, because string, sources ...string) *finding {
	return &finding{code: "unknown-key", severity: Warning, sources: sources, because: because,
		message: fmt.Sprintf("the kernel has no %s %s; did you mean %s?", what, name, near)}
}

// oneProcessor is a mask of processors, or a list of them, that holds one alone.
var oneProcessor = map[string]*regexp.Regexp{
	"/proc/irq/*/smp_affinity":      regexp.MustCompile(`^(?:0x)?[0,]*[1248][0,]*$`),
	"/proc/irq/*/smp_affinity_list": regexp.MustCompile(`^[0-9]+$`),
}

// oneForAll finds a script that gives the interrupts that a variable stands for to one
// processor.
func (k *checker) oneForAll(e conffile.Entry) *finding {
	one := oneProcessor[e.Name]
	if one == nil || e.Has(conffile.Expands) || !e.Has(conffile.Looped) || !one.MatchString(e.Value) {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, value: true,
		sources: []string{"torvalds/linux v6.12 Documentation/core-api/irq/irq-affinity.rst",
			"torvalds/linux v6.12 Documentation/networking/scaling.rst, RSS IRQ Configuration"},
		message: fmt.Sprintf("%s = %s: every interrupt of the loop goes to one processor", e.Key, e.Value),
		because: "The queues of a network card have interrupts of their own so that several processors share the packets; " +
			"with one for all, that one is the limit. Count up the processor in the loop, or leave it to irqbalance."}
}

// spreads is what gives interrupts to processors, or takes processors out.
var spreads = regexp.MustCompile(`smp_affinity|irq_?affinity|isolcpus|cpu-partitioning|\btuna\b|mlnx_(?:tune|affinity)|banirq|banned_cpus`)

// balances remembers whether irqbalance is started or stopped.
func (k *checker) balances(e conffile.Entry) *finding {
	if e.Name == "service:irqbalance" && !e.Has(conffile.Conditional) {
		k.balancer = k.here(e)
	}
	return nil
}

// judgeInterrupts judges irqbalance beside the interrupts that the files give to processors.
func (k *checker) judgeInterrupts() {
	a := k.balancer
	if a == nil {
		return
	}
	byHand := k.effects["/proc/irq/*/smp_affinity"] != nil || k.effects["/proc/irq/*/smp_affinity_list"] != nil
	switch {
	case a.entry.Value == "on" && byHand:
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, sources: []string{"irqbalance(1), --banirq"},
			message: "irqbalance runs, and moves the interrupts that these lines give to processors",
			because: "Every ten seconds it looks at the load and writes smp_affinity itself; stop it, or ban the interrupts " +
				"(--banirq, or IRQBALANCE_BANNED_CPUS for processors)."})
	case a.entry.Value == "off" && !byHand && !spreads.MatchString(a.file.text):
		k.reportIn(a.file, a.entry, finding{code: "needs", severity: Info,
			sources: []string{"irqbalance(1)", "torvalds/linux v6.12 Documentation/networking/scaling.rst, RSS IRQ Configuration"},
			message: "irqbalance is switched off, and nothing here gives the interrupts to processors",
			because: "They stay where the kernel and the driver put them, which may be one processor for several queues; " +
				"look at /proc/interrupts."})
	}
}
