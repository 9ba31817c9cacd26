package calc

import (
	"math"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/units"
)

func calculate(t *testing.T, name, inputs string) map[string]float64 {
	t.Helper()
	c, ok := Find(name)
	if !ok {
		t.Fatalf("no calculation %s", name)
	}
	fields, err := units.ParseFields(inputs)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Calculate(fields)
	if err != nil {
		t.Fatalf("%s %s: %v", name, inputs, err)
	}
	got := map[string]float64{}
	for _, res := range r.Results {
		got[res.Name] = res.Value
	}
	return got
}

// TestCalculations compares with numbers that documents publish: the guides'
// where they are right, the standards' where they are not.
func TestCalculations(t *testing.T) {
	for _, c := range []struct {
		name, inputs, result string
		want                 float64
	}{
		{"bdp", "rate=100mbit,rtt=10ms", "bdp", 125000},
		{"bdp", "rate=512kbit,rtt=900ms", "bdp", 57600},
		{"bdp", "rate=10gbit,rtt=50ms", "bdp", 62500000},
		{"window", "window=65535,rtt=100ms", "rate", 5242800},
		{"wscale", "buffer=2MiB", "freebsd", 6},
		{"wscale", "buffer=4MiB", "freebsd", 7},
		{"wscale", "buffer=16MiB", "freebsd", 9},
		{"wscale", "buffer=157286400", "freebsd", 12},
		{"wscale", "buffer=614400000", "freebsd", 14},
		{"wscale", "buffer=2MiB", "freebsd_in_flight", 4194240},
		{"wscale", "buffer=6MiB", "linux", 7},
		{"mss", "mtu=1500", "payload", 1448},
		{"mss", "mtu=1500", "frame_efficiency", 1448.0 / 1514},
		{"mss", "mtu=1280", "frame_efficiency", 1228.0 / 1294},
		{"mss", "mtu=576,timestamps=no", "mss_option", 536},
		{"mss", "family=6", "payload", 1428},
		{"bus", "kind=pci,mhz=66,bits=32", "bytes_per_second", 264e6},
		{"bus", "kind=pci-x,mhz=133,bits=64", "bytes_per_second", 1064e6},
		{"bus", "kind=pcie,gen=1", "bytes_per_second", 250e6},
		{"bus", "kind=pcie,gen=2,lanes=8", "bytes_per_second", 4e9},
		{"bus", "kind=pcie,gen=3", "bytes_per_second", 984.6e6},
		{"bus", "kind=pcie,gen=4,lanes=8", "bytes_per_second", 15.75e9},
		{"bus", "kind=pcie,gen=5,lanes=16", "bytes_per_second", 63.0e9},
		{"bus", "kind=pcie,gen=6", "bytes_per_second", 7.375e9},
		{"bus", "kind=pcie,gen=7,lanes=16", "bytes_per_second", 236e9},
		{"mss", "mtu=576", "frame_efficiency", 524.0 / 590},
		{"wscale", "buffer=614400000", "freebsd_in_flight", 1073725440},
		{"wscale", "buffer=157286400", "freebsd_in_flight", 268431360},
		{"timewait", "conn_rate=100,wait=10s", "sockets", 1000},
		{"bdp", "rate=6mbit,rtt=100ms", "bdp", 75000},
		{"bdp", "rate=2mbit,rtt=50ms", "bdp", 12500},
		{"queue", "rate=60mbit,packet=1460", "packets", 257},
		{"queue", "rate=60mbit,packet=1460,interfaces=2", "length", 512},
		{"timewait", "conn_rate=1000", "sockets", 60000},
		{"loss", "loss=0.01%,rtt=80ms", "mathis_window", 122.4745},
		{"loss", "loss=1e-8,rtt=100ms", "cubic_window", 187400},
		{"fragments", "datagram=8192,rate=1gbit,loss=0", "fragments", 6},
		{"fragments", "datagram=1472,rate=1gbit,loss=0", "fragments", 1},
		{"dirty", "rate=944mbit,disk_rate=2GB,timeout=75s,memory=64GiB", "per_group", 8.85e9},
		{"qdepth", "iops=400000,latency=80us,devices=4", "per_vdev", 128},
		{"slog", "rate=10gbit", "size", 12.5e9},
		{"ring", "descriptors=4096,rate=1gbit", "latency", 4096 * 1538 * 8 / 1e9},
		{"intr", "usecs=125,packet_rate=1000000", "most_interrupts", 8000},
		{"hash", "entries=1000000", "buckets", 1048576},
		{"backlog", "rate=5000,pause=100ms", "power_of_two", 512},
		// RFC 6349, section 3.3.1: its table of bandwidth-delay products and windows.
		{"bdp", "rate=1.536mbit,rtt=50ms", "bdp", 9600},
		{"bdp", "rate=44.21mbit,rtt=25ms", "bdp", 138156},
		{"bdp", "rate=100mbit,rtt=3ms", "bdp", 37500},
		{"bdp", "rate=1gbit,rtt=1ms", "bdp", 125000},
		{"bdp", "rate=10gbit,rtt=10ms", "bdp", 12500000},
		{"window", "window=64KiB,rtt=25ms", "rate", 20971520},
		// RFC 7323, section 1.1: 2^16 bytes over a satellite path.
		{"window", "window=65536,rtt=500ms", "rate", 1048576},
		// The networking camp's examples.
		{"bdp", "rate=20mbit,rtt=50ms", "bdp", 125000},
		{"bus", "kind=PCI-X,mhz=133,bits=64,crossings=2", "usable", 133e6 * 64 * 0.8 / 2},
		{"bus", "kind=pcie,gen=2,lanes=4", "bytes_per_second", 2e9},
		{"bus", "kind=PCIe,gen=v3.0,lanes=16", "bytes_per_second", 15.754e9},
		{"bus", "kind=pcie,gen=4,lanes=16", "bytes_per_second", 31.508e9},
		{"mss", "mtu=9000", "wire_efficiency", 8948.0 / 9038},
		{"mss", "mtu=1500,family=IPv6,timestamps=no", "mss_option", 1440},
		// The storage notes: 2.2 mF at 5 V, 10% less, 3.4 W.
		{"qdepth", "iops=400kiops,latency=80us", "per_device", 32},
		{"backlog", "rate=20kpps,pause=1s", "entries", 20000},
		{"bdp", "rate=125MB/s,rtt=1ms", "bdp", 125000},
		{"loss", "loss=0.01 %,rtt=80ms", "mathis_window", 122.4745},
		{"dirty", "rate=10gbit,disk_rate=16gbit,memory=64GiB", "incoming", 1.25e9},
	} {
		got := calculate(t, c.name, c.inputs)[c.result]
		if math.Abs(got-c.want) > 0.001*c.want {
			t.Errorf("%s %s: %s = %g, want %g", c.name, c.inputs, c.result, got, c.want)
		}
	}
}

func TestCalculationErrors(t *testing.T) {
	for _, c := range []struct{ name, inputs, want string }{
		{"bdp", "rate=10gbit", "rtt is missing: base round-trip time, such as rtt=50ms"},
		{"bdp", "rate=10gbit,rtt=50", "duration"},
		{"bdp", "rate=x,rtt=50ms", "rate: rate"},
		{"bdp", "rate=1gbit,rtt=50ms,mtu=10", "68 to 65535"},
		{"bdp", "rate=0bit,rtt=50ms", "above 0"},
		{"loss", "loss=0.1,rtt=1ms,mtu=52", "68 to 65535"},
		{"qdepth", "iops=1e30,latency=1s", "0 to 1e18"},
		{"bdp", "rat=1gbit,rtt=50ms", `there is no input "rat"`},
		{"window", "window=1MiB,rtt=0s", "a time above 0"},
		{"qdepth", "iops=400W,latency=80us", "a number from 0 to 1e18"},
		{"hash", "entries=4pps", "a number from 0 to 1e18"},
		{"bdp", "rate=-1MB/s,rtt=1ms", "negative"},
		{"bus", "kind=isa", "pci, pci-x or pcie is expected"},
		{"bus", "kind=pcie,gen=9", "1 to 7 is expected"},
		{"bus", "kind=pcie,lanes=3", "lanes 3"},
		{"mss", "mtu=20", "68 to 65535"}, {"mss", "mtu=100", "128 to 65535"},
		{"loss", "loss=0,rtt=1ms", "must be above 0"},
		{"fragments", "datagram=70000,rate=1gbit,loss=0", "1 to 65507"},
	} {
		calculation, _ := Find(c.name)
		fields, err := units.ParseFields(c.inputs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := calculation.Calculate(fields); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.inputs, err, c.want)
		}
	}
}

func FuzzCalculate(f *testing.F) {
	f.Add("bdp", "rate=10gbit,rtt=50ms")
	f.Add("bdp", "rate=10gbit,rtt=50ms,mtu=10")
	f.Add("loss", "loss=1,rtt=0s,mtu=40")
	f.Add("bus", "kind=pcie,gen=6,lanes=16,payload=0")
	f.Add("hash", "entries=1e17,per_bucket=0.0001")
	f.Add("dirty", "rate=1tbit,disk_rate=1,memory=0")
	f.Fuzz(func(t *testing.T, name, inputs string) {
		c, ok := Find(name)
		fields, err := units.ParseFields(inputs)
		if !ok || err != nil {
			return
		}
		r, err := c.Calculate(fields)
		if err != nil {
			return
		}
		for _, res := range r.Results {
			if math.IsNaN(res.Value) || math.IsInf(res.Value, 0) || res.Value < 0 {
				t.Errorf("%s %s: %s = %g", name, inputs, res.Name, res.Value)
			}
		}
	})
}

// TestCorrections: whatever is said to be wrong in a guide belongs to a formula
// and is in its output.
func TestCorrections(t *testing.T) {
	for name := range corrections {
		c, ok := Find(name)
		if !ok {
			t.Errorf("there is no formula %s", name)
			continue
		}
		if name != "bus" {
			continue
		}
		r, err := c.Calculate([]units.Field{{Key: "kind", Value: "pcie"}, {Key: "gen", Value: "4"},
			{Key: "lanes", Value: "8"}})
		if err != nil || len(r.Corrections) != len(corrections[name]) {
			t.Errorf("%s: %v, %v", name, r.Corrections, err)
		}
	}
}
