package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocuments checks that the catalog answers for every setting that the
// tuning documents name, right or wrong: testdata/documents.txt lists them.
func TestDocuments(t *testing.T) {
	known := documentCatalog(t)
	for _, name := range documentNames(t) {
		if !answers(known, name) {
			t.Errorf("%s: no record of any system", name)
		}
	}
}

// TestDocumentText extracts the names from the documents themselves, in the
// folder that WIRERATE_SEEDS names.
func TestDocumentText(t *testing.T) {
	folder := os.Getenv("WIRERATE_SEEDS")
	if folder == "" {
		t.Skip("WIRERATE_SEEDS names no folder of documents")
	}
	known, listed := documentCatalog(t), documentNames(t)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in %s (%v)", folder, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range settingNames(string(text)) {
			if found[name] || slices.Contains(noSettings, name) {
				continue
			}
			found[name] = true
			if !answers(known, name) {
				t.Errorf("%s: %s: no record of any system", filepath.Base(file), name)
			} else if !slices.Contains(listed, name) {
				t.Errorf("%s: %s is missing in testdata/documents.txt", filepath.Base(file), name)
			}
		}
	}
	for _, name := range listed {
		if !found[name] {
			t.Errorf("testdata/documents.txt: %s is in none of the documents", name)
		}
	}
	t.Logf("%d names in %d documents", len(found), len(files))
}

// noSettings are what looks like a setting in the documents and is none.
var noSettings = []string{
	"net.inet.tcp.sendbuf", // prose, short for sendbuf_max
	"net.isr.*",            // prose, the whole tree
	"options",              // part of ifconfig's output
	"sysctl",
}

func TestSettingNames(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`#net.inet.tcp.tso=0 # off, see kern.ipc.nmbclusters.`, "net.inet.tcp.tso kern.ipc.nmbclusters"},
		{"echo 'cc_cubic_load=\"YES\"' >> /boot/loader.conf", "cc_cubic_load"},
		{"#pf_flags=\"\"   # none", "pf_flags"},
		{`ifconfig_igb1="inet 10.0.0.1/24 -lro -vlanhwtso"`, "ifconfig_igb1 ifconfig:lro ifconfig:vlanhwtso"},
		{"ethtool -K eth0 tso on gro off", "ethtool:features/tso ethtool:features/gro"},
		{"ethtool -A eth0 autoneg off rx off", "ethtool:pause/autoneg ethtool:pause/rx"},
		{"ip route change default via 10.0.0.1 dev eth0 initcwnd 128 initrwnd 128", "route:initcwnd route:initrwnd"},
		{"echo deadline > /sys/block/sda/queue/scheduler", "/sys/block/sda/queue/scheduler"},
		{"ifconfig eth0 txqueuelen 10000", "link:txqueuelen"},
		{"see www.kern.net and sysctl.conf", ""},
	} {
		if got := strings.Join(settingNames(test.text), " "); got != test.want {
			t.Errorf("%q: %q, not %q", test.text, got, test.want)
		}
	}
}

var (
	dottedName   = regexp.MustCompile(`(?:^|[^A-Za-z0-9_./-])((?:net|kern|hw|dev|vm|fs|machdep|security|vfs|ddb|kernel)(?:\.[A-Za-z0-9_*-]+)+)`)
	variableName = regexp.MustCompile(`(?:^|[\s#'"` + "`" + `])([a-z][a-z0-9_]+)=\\?"`)
	ifconfigFlag = regexp.MustCompile(`[\s"]-?(lro|tso[46]?|rxcsum6?|txcsum6?|vlanhwtso|polling)\b`)
	ethtoolSet   = regexp.MustCompile(`ethtool -([KA]) \S+((?: [a-z-]+ (?:on|off))+)`)
	routeWindow  = regexp.MustCompile(`\b(initcwnd|initrwnd) [0-9]+`)
	sysPath      = regexp.MustCompile(`(?:^|[\s"'=])(/sys/(?:class|block|module|kernel|bus|devices)/[A-Za-z0-9_/.-]+)`)
)

// settingNames finds the settings that a text names, in its order.
func settingNames(text string) []string {
	var names []string
	for line := range strings.SplitSeq(text, "\n") {
		for _, m := range dottedName.FindAllStringSubmatch(line, -1) {
			names = append(names, strings.TrimSuffix(m[1], "."))
		}
		for _, m := range variableName.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		if strings.Contains(line, "ifconfig") {
			for _, m := range ifconfigFlag.FindAllStringSubmatch(line, -1) {
				names = append(names, "ifconfig:"+m[1])
			}
		}
		if strings.Contains(line, "txqueuelen") {
			names = append(names, "link:txqueuelen")
		}
		for _, m := range ethtoolSet.FindAllStringSubmatch(line, -1) {
			group := map[string]string{"K": "features", "A": "pause"}[m[1]]
			for i, word := range strings.Fields(m[2]) {
				if i%2 == 0 {
					names = append(names, "ethtool:"+group+"/"+word)
				}
			}
		}
		for _, m := range routeWindow.FindAllStringSubmatch(line, -1) {
			names = append(names, "route:"+m[1])
		}
		for _, m := range sysPath.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// answers reports whether the catalog knows a name, or the node of a tree, in
// any system.
func answers(c *Catalog, name string) bool {
	for _, system := range Systems() {
		if _, ok := c.Lookup(system, name); ok {
			return true
		}
	}
	return slices.ContainsFunc(c.entries, func(e entry) bool { return strings.HasPrefix(e.name, name+".") })
}

func documentCatalog(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// documentNames reads testdata/documents.txt: a name a line, # comments.
func documentNames(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/documents.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if name, _, _ := strings.Cut(line, "#"); strings.TrimSpace(name) != "" {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if len(names) == 0 {
		t.Fatal("testdata/documents.txt names nothing")
	}
	return names
}
