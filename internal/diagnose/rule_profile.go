package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// costs are the functions of the kernel and of libcrypto in which the processors' time goes to something that can be changed, with the
// share from which on it is worth a word.
var costs = []struct {
	functions *regexp.Regexp
	share     float64
	what, do  string
	because   string
}{
	{regexp.MustCompile(`^(?:ipt|ip6t|ebt|arpt)_do_table|^nft_do_chain|^nft_(?:rbtree|hash)|^(?:set|` +
		`hash)_match_v4`), 0.15,
		"firewall rules take", "use sets for addresses and ports (ipset, nftables sets), accept established " +
			"connections first, and use an nftables flowtable for forwarded traffic",
		"Each packet is compared with the rules one by one."},
	{regexp.MustCompile(`^(?:__)?nf_conntrack_|^nf_ct_|^hash_conntrack`), 0.15, "connection tracking takes",
		"exempt traffic that needs no tracking (notrack), and raise net.netfilter.nf_conntrack_buckets if the hash chains are " +
			"long",
		"Every packet needs a lookup in the connection table."},
	{regexp.MustCompile(`^t?packet_rcv|^tpacket_rcv|^packet_lookup_frame|^skb_copy_bits_af_packet`), 0.05,
		"packet capture (AF_PACKET) takes", "stop tcpdump and other captures, or give them a narrow filter",
		"Every packet is copied for the capturing program."},
	{regexp.MustCompile(`^(?:native_)?queued_spin_lock_slowpath`), 0.25, "lock contention takes",
		"find the lock (perf record -g): often a single qdisc for all cores (use mq with fq or fq_codel), or one socket " +
			"shared by many threads (use SO_REUSEPORT)", "Cores wait for each other instead of working."},
	{regexp.MustCompile(`^(?:do_)?csum_partial`), 0.08, "software checksums take",
		"enable the checksum offloads (ethtool -K NAME tx on rx on), and check for tunnels that prevent them",
		"The card could compute the checksums."},
	{regexp.MustCompile(`^(?:__)?(?:alloc_iova|free_iova|iommu_|intel_iommu_|amd_iommu_|qi_submit_sync|` +
		`iommu_dma_)|^__domain_mapping`),
		0.1, "the IOMMU takes", "boot with iommu=pt: the host's own devices then bypass the IOMMU, while devices passed to " +
			"guests stay translated",
		"Each buffer is mapped and unmapped for the card."},
	{regexp.MustCompile(`^_?(?:aesni_|aes_(?:gcm|ctr|cbc|hw)|gcm_(?:ghash|init)|v?aes_|ChaCha20_|poly1305_|` +
		`sha(?:1|256|512)_(?:block|transform|ni)|chacha_|AES_|Camellia_|DES_)`), 0.25, "encryption takes",
		"use ciphers with CPU support (AES-GCM if /proc/cpuinfo shows aes, otherwise ChaCha20), kernel TLS with NIC offload " +
			"(ethtool -K NAME tls-hw-tx-offload on), or more cores",
		"Every byte is encrypted by the CPU."},
	{regexp.MustCompile(`^(?:rsaz_|bn_mul|__?bn_|bn_sqr|BN_|ecp_nistz|x25519_|mul_mont|bn_from_mont|RSA_)`), 0.25,
		"TLS handshakes take", "reuse connections and sessions (keepalive_timeout, ssl_session_cache shared:SSL:10m), and " +
			"use an ECDSA certificate instead of RSA",
		"Each new connection costs a signature."},
	{regexp.MustCompile(`^(?:vma|pvclock_clocksource_read|read_hpet|` +
		`acpi_pm_read)$`), 0.08, "reading a slow clock source takes",
		"use a faster clock source (echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource)",
		"The time of each packet is read from a device."},
}

// processorCost finds what takes the kernel's time.
func processorCost() Rule {
	return Rule{
		ID: "processor-cost", Title: "One part of the kernel uses much of the CPU time", Systems: onLinux(),
		Needs: []string{"profile"}, Severity: Warning,
		Because: "The cost per packet limits how many packets a core can handle.",
		Confirm: "mpstat -P ALL 1 shows a core without idle time while it is slow.",
		Check: func(in Input) (out []Finding) {
			for _, c := range costs {
				sum := 0.0
				var evidence []facts.Source
				for _, s := range in.Facts.Symbols {
					if c.functions.MatchString(s.Name) {
						sum += s.Share
						evidence = append(evidence, s.Source)
					}
				}
				if sum < c.share {
					continue
				}
				found := do(c.do, one("processors", sample(evidence), "%s %.0f%% of the CPU time", c.what, 100*sum))
				found[0].Because = c.because
				out = append(out, found...)
			}
			return out
		},
		Fires: linuxExample("perf top", "Overhead  Shared Object  Symbol\n  38.10%  [ip_tables]    [k] ipt_do_table\n"),
		Quiet: linuxExample("perf top", "Overhead  Shared Object  Symbol\n  26.30%  [kernel]       [k] "+
			"copy_user_enhanced_fast_string\n"+
			"   3.10%  [ip_tables]    [k] ipt_do_table\n"),
	}
}
