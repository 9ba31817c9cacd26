package facts

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wirerate/wirerate/internal/units"
)

var noSources = cmp.Options{cmpopts.IgnoreTypes(Source{}), cmpopts.IgnoreUnexported(Disk{})}

func counter(v uint64) Counter { return Counter{Value: v} }

func compareAll(t *testing.T, pairs map[string][2]any) {
	t.Helper()
	for what, pair := range pairs {
		if d := cmp.Diff(pair[1], pair[0], noSources); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}

func TestDisksOfLinux(t *testing.T) {
	f := fixtureFacts(t, "linux", 0)
	yes, no := true, false
	var names []string
	for _, d := range f.Disks {
		names = append(names, d.Name)
	}
	sda := *f.disk("sda")
	load := sda.Load
	sda.Load = nil
	compareAll(t, map[string][2]any{
		"whole disks": {names, []string{"sda", "nvme0n1", "dm-0"}},
		"sda": {sda, Disk{Name: "sda", Kind: "disk", Model: "EXAMPLE 4TB", Size: 7814037168 * 512, Rotational: &yes,
			Scheduler: "mq-deadline", Requests: 64,
			ReadAhead: 128 * units.KiB, Mounts: []string{"/", "/home"}, Operations: counter(936015),
			Bytes: counter(72044018 * 512), Reads: counter(394146),
			Writes: counter(541869), ReadBytes: counter(17232810 * 512), WriteBytes: counter(54811208 * 512),
			ReadTime: counter(105454), WriteTime: counter(1590695),
			BusyTime: counter(309516)}},
		"load": {load, &DiskLoad{Operations: 7, Bytes: 1000 * 1024, Reads: 5, Writes: 2, ReadBytes: 600 * 1024,
			WriteBytes: 400 * 1024, ReadLatency: 12, WriteLatency: 20,
			Queue: 0.1, Busy: 0.5, BusyKnown: true, SinceBoot: true}},
		"does not turn": {f.disk("nvme0n1").Rotational, &no},
		"built on": {[]any{f.disk("dm-0").Kind, f.disk("dm-0").Below, f.disk("dm-0").Mounts},
			[]any{"dm", []string{"sda1"}, []string{"/home"}}},
		"as a setting": {f.Settings["/sys/block/sda/queue/scheduler"].Value, "none [mq-deadline] bfq"},
		"arc":          {[]uint64{f.ZFS.ARC["size"].Value, f.ZFS.ARC["hits"].Value}, []uint64{30000000000, 1000}},
	})
	if v, src, ok := f.disk("sda").Throughput(); !ok || math.Round(v) != 119174896 || src.From != "/proc/diskstats" {
		t.Errorf("throughput %g of %v", v, src)
	}
	if v, _, ok := (&Disk{Load: load}).Throughput(); !ok || v != 2000*1024 {
		t.Errorf("1,000 KiB/s in half of the time: %g", v)
	}
	if _, _, ok := f.disk("nvme0n1").Throughput(); ok {
		t.Error("12 ms of work are no throughput")
	}
}

func TestDisksOfFreeBSD(t *testing.T) {
	f := fixtureFacts(t, "freebsd", 0)
	ada := f.disk("ada0")
	pool, data := f.ZFS.Pools[0], f.ZFS.Datasets[slices.IndexFunc(f.ZFS.Datasets,
		func(d ZDataset) bool { return d.Name == "tank/data" })]
	half := 0.41
	full := 0.8
	vdev := func(name, role, kind, group, state string, r, w, c uint64) ZVdev {
		return ZVdev{Name: name, Role: role, Kind: kind, Group: group, State: state, Read: r, Write: w, Checksum: c}
	}
	compareAll(t, map[string][2]any{
		"totals": {[]uint64{ada.Reads.Value, ada.Bytes.Value, ada.BusyTime.Value}, []uint64{120000, 36000000 * 1024, 900500}},
		"load": {*ada.Load, DiskLoad{Operations: 150, Bytes: 76800 * 1024, Writes: 150, WriteBytes: 76800 * 1024,
			WriteLatency: 12.5, Queue: 2, Busy: ada.Load.Busy, BusyKnown: true}},
		"what": {[]any{ada.Size, *ada.Rotational, *f.disk("nda0").Rotational, ada.Model},
			[]any{units.Bytes(4000787030016), true, false, "EXAMPLE 4TB"}},
		"pool": {[]any{pool.Size, pool.Free, pool.Fragmentation, pool.Capacity, pool.Health},
			[]any{units.Bytes(3985729650688), units.Bytes(797145930138), &half, &full, "DEGRADED"}},
		"vdevs": {pool.Vdevs, []ZVdev{vdev("mirror-0", "data", "mirror", "", "DEGRADED", 0, 0, 0),
			vdev("ada0p3", "data", "disk", "mirror-0", "ONLINE", 0, 0, 0),
			vdev("ada1p3", "data", "disk", "mirror-0", "FAULTED", 3, 1228, 7),
			vdev("nda0p1", "log", "disk", "", "ONLINE", 0, 0, 0),
			vdev("nda0p2", "cache", "disk", "", "ONLINE", 0, 0, 0)}},
		"datasets": {[]any{len(f.ZFS.Datasets), data.Properties["recordsize"].Value, data.Properties["primarycache"].Origin},
			[]any{2, "1048576", "inherited from tank"}},
		"boot": {[]any{f.Settings["hw.ix.num_queues"].Value, f.Boot["kern.ipc.nmbclusters"].Value},
			[]any{"4", "1018044"}},
		"not the boot": {f.Settings["kern.ipc.nmbclusters"].Source.From, "sysctl -a"},
	})
	if _, ok := f.Boot["smbios.system.serial"]; ok {
		t.Error("a serial number is kept")
	}
	for _, d := range f.Disks {
		if d.Name == "ada0p1" {
			t.Error("a partition is a disk")
		}
	}
}

func TestDisksOfOpenBSD(t *testing.T) {
	f := fixtureFacts(t, "openbsd", 0)
	sd := f.disk("sd0")
	compareAll(t, map[string][2]any{
		"totals": {[]uint64{sd.Bytes.Value, sd.Operations.Value, sd.BusyTime.Value},
			[]uint64{4000000 * 1024, 90000, 120500}},
		"load":    {*sd.Load, DiskLoad{Operations: 9, Bytes: 120 * 1024, Busy: 0.05, BusyKnown: true, SinceBoot: true}},
		"optical": {f.disk("cd0").Kind, "optical"},
		"ring": {[]uint64{f.NIC("ix0").Counters["rxring.2048.alive"].Value,
			f.NIC("ix0").Counters["rxring.2048.cwm"].Value, f.NIC("ix0").Counters["rxring.4096.alive"].Value},
			[]uint64{512, 512, 8}},
		"livelocks":  {f.Counters["mbufs.livelocks"].Value, uint64(3)},
		"processors": {[]float64{f.Processors[0].Interrupt, f.Processors[1].Interrupt}, []float64{0, 0.5}},
		// top is the latest
	})
	if v, _, ok := sd.Throughput(); !ok || v != 4000000*1024/120.5 {
		t.Errorf("throughput %g", v)
	}
}

func TestDisksOverAWindow(t *testing.T) {
	line := func(v string) string { return "   8       0 sda " + v + "\n" }
	first := line("1000 0 8000 500 100 0 800 100 0 2000 600")
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", "/proc/diskstats": first,
		"second sample": "==> /proc/diskstats <==\n" + line("1100 0 208000 900 100 0 800 100 0 3000 700")}, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want := &DiskLoad{Operations: 50, Bytes: 100000 * 512, Reads: 50, ReadBytes: 100000 * 512, ReadLatency: 4, Queue: 0.2,
		Busy: 0.5, BusyKnown: true}
	if d := cmp.Diff(want, f.disk("sda").Load, noSources); d != "" {
		t.Error(d)
	}
	// It vanished, or was reset.
	for _, later := range []string{"", line("5 0 8000 500 100 0 800 100 0 2000 600")} {
		f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", "/proc/diskstats": first,
			"second sample": "==> /proc/diskstats <==\n" + later}, time.Second)
		if err != nil || f.disk("sda").Load != nil {
			t.Errorf("%v %+v", err, f.disk("sda").Load)
		}
	}
}

func TestIostatOfManyReleases(t *testing.T) {
	for _, tt := range []struct {
		system, from, text string
		want               DiskLoad
	}{
		{"FreeBSD a 9.3", "iostat -x",
			"                        extended device statistics  \ndevice     r/s   w/s    kr/s    kw/s qlen svc_t  %b  " +
				"\nsda        1.5  22.0    30.0   900.5    3   9.1  17 \n",
			DiskLoad{Operations: 23.5, Bytes: 930.5 * 1024, Reads: 1.5, Writes: 22, ReadBytes: 30 * 1024,
				WriteBytes: 900.5 * 1024, ReadLatency: 9.1, WriteLatency: 9.1, Queue: 3, Busy: 0.17, BusyKnown: true,
				SinceBoot: true}},
		{"Linux a 2.6", "iostat -x",
			"Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\nsda   " +
				"0.03 12.4 0.5 4 8 128 29 0.1 15.5 2.1 0.96\n" +
				"Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\nsda   0 " +
				"0 1 0 2 0 2 0 3 1 99,50\n",
			DiskLoad{Operations: 1, Bytes: 1024, Reads: 1, ReadBytes: 1024, ReadLatency: 3, WriteLatency: 3, Busy: 0.995,
				BusyKnown: true}},
		{"Linux a 3.10", "iostat -x",
			"Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz avgqu-sz   await r_await w_await  " +
				"svctm  %util\nsda 0 0 10 0 2 0 1 1 5 5 0 1 50\n",
			DiskLoad{Operations: 10, Bytes: 2 << 20, Reads: 10, ReadBytes: 2 << 20, ReadLatency: 5, Queue: 1, Busy: 0.5,
				BusyKnown: true, SinceBoot: true}},
		{"FreeBSD a 12.0", "gstat -b",
			"dT: 1.0s  w: 1.000s\n L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w    d/s   kBps   ms/d    o/s   ms/o  " +
				" %busy Name\n    1     20     10    100    1.5     10    200    2.5      0      7    0.0      0    0.0  101.5| " +
				"sda\n",
			DiskLoad{Operations: 20, Bytes: 300 * 1024, Reads: 10, Writes: 10, ReadBytes: 100 * 1024, WriteBytes: 200 * 1024,
				ReadLatency: 1.5, WriteLatency: 2.5, Queue: 1, Busy: 1, BusyKnown: true}},
	} {
		f, err := FromTexts("a", map[string]string{"uname -a": tt.system + "\n", tt.from: tt.text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.disk("sda") == nil || f.disk("sda").Load == nil {
			t.Errorf("%s: %+v", tt.text, f.Parts)
			continue
		}
		if d := cmp.Diff(tt.want, *f.disk("sda").Load, noSources); d != "" {
			t.Errorf("%s\n%s", tt.text, d)
		}
	}
}

func TestPoolsAsPeoplePostThem(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 5.4\n",
		"zpool list -p": `    NAME                     SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
    big                      494T   399T  95.3T        -         -    41%    80%  1.00x    ONLINE  -
      mirror-0              14.5T  12.3T  2.22T        -         -    42%  84.7%      -    ONLINE
        sda                 14.6T      -      -        -         -      -      -      -    ONLINE
    logs                        -      -      -        -         -      -      -      -         -
      nvme0n1p1              100G   128K   100G        -         -     0%  0.00%      -    ONLINE
`,
		"zpool status": `  pool: big
 state: DEGRADED
  scan: resilver in progress since Thu Apr  8 19:53:32 2021
config:

        NAME                        STATE     READ WRITE CKSUM
        big                         DEGRADED     0     0     0
          draid2:11d:15c:2s-0       DEGRADED     0     0     0
            sda                     ONLINE       0     0     0
            replacing-2             DEGRADED     0     0    26
              11687508470009778260  UNAVAIL      0     0     0  was /dev/sdv1/old
              sdv1                  ONLINE       0     0 1.88K  (resilvering)
        spares
          draid2-0-0                AVAIL

errors: 1 data errors, use '-v' for a list
`}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := f.ZFS.Pools[0]
	vdev := func(name, role, kind, group, state string, c uint64) ZVdev {
		return ZVdev{Name: name, Role: role, Kind: kind, Group: group, State: state, Checksum: c}
	}
	share := 0.8
	compareAll(t, map[string][2]any{
		"pool": {[]any{len(f.ZFS.Pools), p.Size, p.Capacity, p.Health}, []any{1, 494 * units.TiB, &share, "DEGRADED"}},
		"vdevs": {p.Vdevs, []ZVdev{vdev("draid2:11d:15c:2s-0", "data", "draid2", "", "DEGRADED", 0),
			vdev("sda", "data", "disk", "draid2:11d:15c:2s-0", "ONLINE", 0),
			vdev("replacing-2", "data", "replacing", "", "DEGRADED", 26),
			vdev("11687508470009778260", "data", "disk", "draid2:11d:15c:2s-0", "UNAVAIL", 0),
			vdev("sdv1", "data", "disk", "draid2:11d:15c:2s-0", "ONLINE", 1925),
			vdev("draid2-0-0", "spare", "draid2", "", "AVAIL", 0)}},
	})
}
