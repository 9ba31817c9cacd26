package diagnose

// conntrackDrops finds packets that connection tracking dropped.
func conntrackDrops() Rule {
	return Rule{
		ID: "conntrack-drops", Title: "Connection tracking dropped packets", Systems: onLinux(),
		Needs: []string{"conntrack statistics"}, Severity: Warning,
		Settings: []string{"net.netfilter.nf_conntrack_max"},
		Because: "A packet whose entry cannot be created is dropped: the table was full, or two " +
			"packets of one connection raced.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "nf_conntrack.drop", "nf_conntrack.early_drop", "nf_conntrack.insert_failed")
			if len(found) == 0 {
				return nil
			}
			s := Info
			if total(in.Facts, "nf_conntrack.drop")+total(in.Facts, "nf_conntrack.early_drop") > 0 {
				s = Warning
			}
			return with(s, one("conntrack", sources(found), "%s", found[0].Source.Text))
		},
		Fires: linuxExample("/proc/net/stat/nf_conntrack", "entries  searched found new invalid ignore delete "+
			"delete_list insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete "+
			"search_restart\n"+
			"00000009  00000000 00000000 00000000 00000005 00000000 00000000 00000000 00000000 00000000 00000031 "+
			"00000000 00000000  00000000 00000000 00000000 00000000\n"),
		Quiet: linuxExample("/proc/net/stat/nf_conntrack", "entries  searched found new invalid ignore delete "+
			"delete_list insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete "+
			"search_restart\n"+
			"00000009  00000000 00000000 00000000 00000005 00000000 00000000 00000000 00000000 00000000 00000000 "+
			"00000000 00000000  00000000 00000000 00000000 00000000\n"),
	}
}
