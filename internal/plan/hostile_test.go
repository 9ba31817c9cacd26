package plan

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/transcript"
	"github.com/wirerate/wirerate/internal/units"
)

// mark is in every hostile text: no name and no value that is written can hold
// it, so that it may stand in comments alone.
const mark = "PWN$D"

// attacks are hostile names and values: of shells, YAML, Ansible, TuneD,
// systemd, paths, options and terminals.
var attacks = []string{
	"a;id>" + mark + ";/../../../.bashrc", "$(id>" + mark + ")", "`id>" + mark + "`", "a\nid>" + mark, "'" + mark + "'", "\"" + mark + "\"", "a' id '" + mark,
	"{{" + mark + "}}", "{{lookup('pipe','id>" + mark + "')}}", "{%" + mark + "%}", "{{{" + mark, "${f:exec:id>" + mark + "}", "../../" + mark, "/../" + mark, "..",
	"-rf" + mark, "--" + mark, mark + "\x00", "\u202e" + mark, mark + strings.Repeat("n", 300), "|id>" + mark, "&" + mark + "&", "#" + mark, mark + `\`, "%" + mark + "%n",
	"*" + mark + "[", mark + "=1", ":" + mark + ":", "@" + mark, "eth0@" + mark, mark + "\r", "\x1b[31m" + mark, mark + "\u2028ExecStart=/bin/id", "a\nExecStart=/bin/id " + mark,
	"a\n- name: " + mark, "a\n[script]\nscript=" + mark, "\xff\xfe" + mark, "a b " + mark, "~" + mark, "!" + mark, "a\n    post-up " + mark, "\u0085" + mark,
}

// filesOf are all files that are made of a plan.
func filesOf(t testing.TB, p Plan) []File {
	t.Helper()
	files := slices.Concat(NativeFiles(p, All), NativeFiles(p, func(string) (bool, string) { return false, attacks[0] }), Shown(p), NextBoot(p))
	for _, kind := range []string{"ansible", "tuned", "script"} {
		if p.System != catalog.Linux && kind == "tuned" {
			continue
		}
		exported, err := Export(p, kind)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, exported...)
	}
	return files
}

var (
	fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*$`)
	iniOf    = regexp.MustCompile(`^\[[A-Za-z0-9_.-]+\]$|^[A-Za-z0-9_./-]+=[^$]*$|^script=\$\{i:PROFILE_DIR\}/interfaces\.sh$|^ExecStart=-`)
)

// harmless checks what holds of every file: its place, and that nothing hostile
// stands in it but in comments, nothing at all that ends a line, reorders it or
// is a template of Ansible's.
func harmless(t testing.TB, f File) {
	t.Helper()
	for _, at := range []string{f.Name, strings.TrimPrefix(f.Path, "/")} {
		if at != "" && (!fileName.MatchString(at) || !fs.ValidPath(at)) {
			t.Errorf("the file %q leaves its folder", at)
		}
	}
	for i, line := range strings.Split(f.Content, "\n") {
		bare := strings.TrimSpace(line)
		if strings.Contains(line, mark) && !strings.HasPrefix(bare, "#") {
			t.Errorf("%s:%d: %q", f.Name, i+1, line)
		}
		if terminal.Escape(line) != line || strings.Contains(line, "{{") || strings.Contains(line, "{%") || strings.HasSuffix(bare, `\`) {
			t.Errorf("%s:%d: %q", f.Name, i+1, line)
		}
	}
	format(t, f)
}

// format reads a file with its language's own parser.
func format(t testing.TB, f File) {
	t.Helper()
	kind := conffile.Kind("")
	switch base := filepath.Base(f.Name); {
	case strings.HasSuffix(base, ".yml"):
		var v any
		if err := yaml.Unmarshal([]byte(f.Content), &v); err != nil {
			t.Errorf("%s: %v\n%s", f.Name, err, f.Content)
		}
		return
	case slices.Contains([]string{".service", ".link", ".network", ".netdev"}, filepath.Ext(base)), base == "tuned.conf", base == "multi-user.target.d-wirerate.conf":
		for _, line := range strings.Split(f.Content, "\n") {
			if line != "" && line[0] != '#' && !iniOf.MatchString(line) {
				t.Errorf("%s: %q", f.Name, line)
			}
		}
		return
	case base == "sysctl.conf", base == "90-wirerate.conf":
		kind = conffile.Sysctl
	case base == "loader.conf", base == "nextboot.conf":
		kind = conffile.Loader
	case strings.HasPrefix(base, "rc.conf"):
		kind = conffile.RC
	case base == "pf.conf":
		kind = conffile.PF
	case base == "wirerate.conf":
		kind = conffile.Modprobe
	case strings.HasPrefix(base, "hostname."):
		kind = conffile.HostnameIf
	case strings.HasPrefix(base, "interfaces-"):
		kind = conffile.Interfaces
	default:
		return
	}
	system := conffile.System("")
	for _, s := range catalog.Systems() {
		if strings.Contains(strings.SplitN(f.Content, "\n", 2)[0], ", ") && strings.Contains(f.Content[:min(len(f.Content), 4096)], " "+string(s)+" ") {
			system = conffile.System(s)
		}
	}
	parsed, err := conffile.Parse(kind, system, f.Name, []byte(f.Content))
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
		return
	}
	for _, r := range parsed.Rejects {
		t.Errorf("%s:%d: %s\n%s", f.Name, r.Line, r.Reason, f.Content)
	}
	if len(f.Entries) == 0 {
		return
	}
	intended := map[string]string{}
	for _, e := range f.Entries {
		intended[e.Key] = e.Value
	}
	for _, e := range parsed.Entries {
		value, ok := intended[e.Name]
		if !ok {
			value, ok = intended[e.Key]
		}
		if kind != conffile.HostnameIf && (!ok || value != e.Value) {
			t.Errorf("%s:%d: %s = %q is not intended", f.Name, e.Line, e.Name, e.Value)
		}
	}
}

// harmlessPlan checks the plan itself: nothing hostile is to be set or typed.
func harmlessPlan(t testing.TB, p Plan) {
	t.Helper()
	for _, ch := range p.Changes {
		if strings.Contains(ch.Setting+ch.To, mark) {
			t.Errorf("the plan sets %q to %q", ch.Setting, ch.To)
		}
	}
	for _, s := range p.Steps {
		for _, c := range s.Commands {
			if strings.Contains(c, mark) || terminal.Escape(c) != c {
				t.Errorf("the plan says to type %q", c)
			}
		}
	}
	for _, f := range filesOf(t, p) {
		harmless(t, f)
	}
}

// tracer runs scripts in a folder of their own, where every program is a stub
// that notes its words, each run of one in a file of its own.
type tracer struct{ dir, stubs, log string }

const stub = `#!/bin/sh
{ printf '%s' "${0##*/}"; for a; do printf '\037%s' "$a"; done; } >"$TRACE/$$"
`

func newTracer(t testing.TB) tracer {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("/bin/sh is not there: scripts are not run")
	}
	base := t.TempDir()
	tr := tracer{filepath.Join(base, "work"), filepath.Join(base, "stubs"), filepath.Join(base, "log")}
	for _, d := range []string{tr.dir, tr.stubs} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"ip", "ethtool", "sysctl", "modprobe", "ifconfig", "kldload", "tc", "cpuset", "head", "sed", "ls", "grep", "sort", "id", "rm", "cat", "sh"} {
		if err := os.WriteFile(filepath.Join(tr.stubs, program), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// run returns the commands that a script executes, each with its words. Files of
// the kernel are looked for below the tracer's folder, where none is.
func (tr tracer) run(t testing.TB, script string, args ...string) [][]string {
	t.Helper()
	if err := os.RemoveAll(tr.log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tr.log, 0o755); err != nil {
		t.Fatal(err)
	}
	script = strings.NewReplacer(" > /sys/", " > "+tr.dir+"/none/sys/", " > /proc/", " > "+tr.dir+"/none/proc/", `"/proc/irq/`, `"`+tr.dir+`/none/`).Replace(script)
	file := filepath.Join(filepath.Dir(tr.dir), "script")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("/bin/sh", "-n", file).CombinedOutput(); err != nil {
		t.Errorf("no script: %v: %s\n%s", err, out, script)
		return nil
	}
	cmd := exec.Command("/bin/sh", append([]string{file}, args...)...)
	cmd.Dir, cmd.Env = tr.dir, []string{"PATH=" + tr.stubs, "TRACE=" + tr.log, "HOME=" + tr.dir}
	cmd.Run() // what it writes to the kernel's files fails here
	if left, err := os.ReadDir(tr.dir); err != nil || len(left) > 0 {
		t.Errorf("the script made %v\n%s", left, script)
	}
	logs, err := os.ReadDir(tr.log)
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	for _, log := range logs {
		data, err := os.ReadFile(filepath.Join(tr.log, log.Name()))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, strings.Split(string(data), "\x1f"))
	}
	return calls
}

// intended are the commands that a plan is for, made without the code under
// test.
func intended(p Plan) map[string]bool {
	all := map[string]bool{}
	add := func(words ...string) { all[strings.Join(words, "\x1f")] = true }
	flags := map[string]string{"features": "-K", "ring": "-G", "channels": "-L", "coalesce": "-C", "pause": "-A"}
	for _, ch := range p.Changes {
		base, on, _ := strings.Cut(ch.Setting, "@")
		form, key, _ := strings.Cut(base, ":")
		group, option, _ := strings.Cut(key, "/")
		switch {
		case ch.Belongs == "sysctl" && p.System == catalog.Linux:
			add("sysctl", "-w", ch.Setting+"="+ch.To)
		case ch.Belongs == "sysctl":
			add("sysctl", ch.Setting+"="+ch.To)
		case p.System == catalog.FreeBSD && strings.HasSuffix(base, "_load"):
			add("kldload", "-n", strings.TrimSuffix(base, "_load"))
		case form == "ethtool" && group == "eee":
			add("ethtool", "--set-eee", on, "eee", ch.To)
		case form == "ethtool":
			add("ethtool", flags[group], on, option, ch.To)
		case form == "link":
			add("ip", "link", "set", "dev", on, key, ch.To)
		case form == "route":
			add("ip", "route", "change", key, ch.To)
			add("ip", "route", "show", on)
			add("head", "-n", "1")
			add("sed", "s/ "+key+" [^ ]*//")
		case form == "ifconfig" && ch.To == "on":
			add("ifconfig", on, key)
		case form == "ifconfig" && ch.To == "off":
			add("ifconfig", on, "-"+key)
		case form == "ifconfig":
			add(append([]string{"ifconfig", on, key}, strings.Fields(ch.To)...)...)
		case p.System == catalog.Linux && !strings.ContainsAny(base, ".:/"):
			add("modprobe", base)
		}
	}
	for _, b := range p.Bindings {
		folder := "/sys/class/net/" + string(b.NIC) + "/device/"
		add("ls", folder+"msi_irqs", folder+"../msi_irqs")
		add("grep", "-E", "^[0-9]+$")
		add("sort", "-nu")
	}
	return all
}

// scripts are the shell texts of a file.
func scripts(f File) []string {
	if strings.HasSuffix(f.Name, ".sh") || strings.HasPrefix(f.Name, "start_if.") {
		return []string{f.Content}
	}
	var texts []string
	for line := range strings.Lines(f.Content) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "post-up "); ok {
			texts = append(texts, command)
		}
		if command, ok := strings.CutPrefix(line, "ExecStart=-/usr/sbin/"); ok {
			texts = append(texts, command)
		}
		if quoted, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=-/bin/sh -c "); ok {
			text, err := strconv.Unquote(quoted)
			if err != nil {
				text = "unreadable " + quoted
			}
			texts = append(texts, strings.NewReplacer("$$", "$", "%%", "%").Replace(text))
		}
	}
	return texts
}

// traced runs everything of a plan that a shell reads.
func (tr tracer) traced(t testing.TB, p Plan) {
	t.Helper()
	want := intended(p)
	for _, f := range filesOf(t, p) {
		var got [][]string
		for _, text := range scripts(f) {
			got = append(got, tr.run(t, text, "start")...)
		}
		seen := map[string]bool{}
		for _, call := range got {
			seen[strings.Join(call, "\x1f")] = true
			if !want[strings.Join(call, "\x1f")] {
				t.Errorf("%s runs %q", f.Name, call)
			}
		}
		for call := range want {
			// head and sed end as they please behind a pipe.
			if program, _, _ := strings.Cut(call, "\x1f"); f.Name == "wirerate.sh" && !seen[call] && slices.Contains([]string{"sysctl", "ethtool", "ifconfig", "kldload"}, program) {
				t.Errorf("%s does not run %q", f.Name, strings.Split(call, "\x1f"))
			}
		}
	}
}

// hostilePlan draws a plan that nobody checked.
func hostilePlan(r *rapid.T) Plan {
	text := rapid.OneOf(rapid.SampledFrom(attacks), rapid.SampledFrom([]string{"eth0", "ix0", "net.ipv4.tcp_rmem", "1", "4096 131072 6291456", "on", "YES", "", "bbr"}))
	draw := func(label string) string { return text.Draw(r, label) }
	p := Plan{Schema: Schema, System: rapid.SampledFrom(catalog.Systems()).Draw(r, "system"), Release: catalog.Version(draw("release")), Role: draw("role"), Path: draw("path"), Host: draw("host")}
	forms := []string{"%s", "ethtool:ring/rx@%s", "ethtool:features/%s@eth0", "link:mtu@%s", "ifconfig:mtu@%s", "ifconfig:%s@ix0", "route:initcwnd@%s", "route:%s@default", "route:initcwnd@default",
		"/sys/class/net/%s/queues/rx-0/rps_cpus", "/proc/irq/%s/smp_affinity_list", "%s_load", "net.ipv4.%s", "pf:set/limit/%s", "pf:set/limit/states", "module:zfs/%s", "module:%s", "%s_enable"}
	for i := range rapid.IntRange(1, 5).Draw(r, "changes") {
		setting := strings.ReplaceAll(rapid.SampledFrom(forms).Draw(r, "form"), "%s", draw("setting"))
		if slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == setting }) {
			continue
		}
		p.Changes = append(p.Changes, Change{Setting: setting, To: draw("to"), From: draw("from"), Default: draw("default"), DefaultNote: draw("note"), Does: draw("does"), Because: draw("because"),
			Formula: draw("formula"), Working: draw("working"), Capped: draw("capped"), Risk: draw("risk"), Evidence: catalog.Grade(draw("grade")), Sources: []string{draw("source")}, ByMemory: i%2 == 0,
			Belongs: rapid.SampledFrom([]string{"sysctl", "loader", "rc", "pf", "module", "sysfs", "ethtool", "link", "route", "ifconfig", mark}).Draw(r, "belongs")})
	}
	nic := func(label string) name.Interface { return name.Interface(draw(label)) }
	p.Bindings = []Binding{{NIC: nic("bound"), Cores: []int{0, 1}}}
	p.Aggregates = []Aggregate{{Name: nic("aggregate"), Links: []name.Interface{nic("link"), nic("other")}, Hash: draw("hash"), Exists: rapid.Bool().Draw(r, "exists")}}
	return p
}

// TestUncheckedPlans: the generators of files take any plan.
func TestUncheckedPlans(t *testing.T) {
	tr := newTracer(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		p := hostilePlan(r)
		for _, f := range filesOf(t, p) {
			harmless(t, f)
		}
		if n++; n%10 == 0 {
			tr.traced(t, p.sound())
		}
		if t.Failed() {
			r.Fatalf("%+v", p)
		}
	})
}

// TestHostilePlanFiles: what is read back is refused for each hostile name and
// value, and a plan that was made is not.
func TestHostilePlanFiles(t *testing.T) {
	c := loaded(t)
	good, err := Make(c, Request{Path: longFat(), Role: "web", Machine: server(catalog.Linux, "6.12"), Harden: true})
	if err != nil {
		t.Fatal(err)
	}
	read := func(p Plan) error {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(c, data)
		return err
	}
	if err := read(good); err != nil {
		t.Errorf("a plan that was made: %v", err)
	}
	for _, attack := range attacks {
		changes := []Change{{Setting: attack, To: "1"}, {Setting: "net.core.rmem_max", To: attack, Belongs: "sysctl"}, {Setting: "ethtool:ring/rx@" + attack, To: "1"},
			{Setting: "/sys/class/net/" + attack + "/queues/rx-0/rps_cpus", To: "f"}, {Setting: "net.ipv4." + attack, To: "1", Belongs: "sysctl"}}
		for _, ch := range changes {
			p := good
			p.Changes = append(slices.Clone(good.Changes), ch)
			if err := read(p); err == nil && ch.To != ".." { // a word like others
				t.Errorf("%q = %q is read", ch.Setting, ch.To)
			} else if err != nil && terminal.Escape(err.Error()) != err.Error() {
				t.Errorf("the message steers terminals: %q", err)
			}
		}
		for _, p := range []Plan{{Aggregates: []Aggregate{{Name: name.Interface(attack)}}}, {Aggregates: []Aggregate{{Name: "bond0", Hash: attack}}},
			{Aggregates: []Aggregate{{Name: "bond0", Links: []name.Interface{name.Interface(attack)}}}}, {Bindings: []Binding{{NIC: name.Interface(attack)}}}, {Release: catalog.Version(attack)}} {
			p.Schema, p.System, p.Role = Schema, catalog.Linux, "web"
			if err := read(p); err == nil {
				t.Errorf("%+v is read", p)
			}
		}
	}
	for _, setting := range []string{"/proc/sysrq-trigger", "/sys/power/state", "/proc/irq/../sysrq-trigger", "net.//.//.etc.passwd", "kernel.nothing_like_it", "firewall:/etc/passwd"} {
		p := good
		p.Changes = []Change{{Setting: setting, To: "1", Belongs: "sysctl"}}
		if read(p) == nil {
			t.Errorf("%s is read", setting)
		}
	}
}

// fixtures are recorded hosts: outputs of one host by their names.
func fixtures(t testing.TB) []map[string]string {
	t.Helper()
	var hosts []map[string]string
	archives, _ := filepath.Glob("../*/testdata/*.txtar")
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, f := range archive.Files {
			texts[f.Name] = string(f.Data)
		}
		if texts["uname -a"] != "" {
			hosts = append(hosts, texts)
		}
	}
	sessions, _ := filepath.Glob("../cli/testdata/cases/*.txt")
	if root := os.Getenv("WIRERATE_CAPTURES"); root != "" {
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if info, ierr := d.Info(); err == nil && ierr == nil && info.Mode().IsRegular() && info.Size() < 1<<18 {
				sessions = append(sessions, p)
			}
			return nil
		})
	}
	for _, file := range sessions {
		if posted, err := transcript.Load(file); err == nil {
			hosts = append(hosts, posted.Texts)
		}
	}
	if len(hosts) < 20 {
		t.Fatalf("%d recorded hosts", len(hosts))
	}
	return hosts
}

var word = regexp.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_.:/@%-]*`)

// nameIn finds what the outputs call things: worth attacking first.
var nameIn = regexp.MustCompile(`(?m)^\d+: ([^:@ ]+)[@:]|^([a-z]+\d+): flags|^Linux (\S+) (\S+)|driver: (\S+)|^(\S+) \d+ \d+ |dev (\S+)|^([a-z][a-z0-9_.]+)(?: = |: |=)`)

// mutated replaces some names or words of a host's outputs by hostile ones,
// everywhere or in one place.
func mutated(r *rand.Rand, host map[string]string) map[string]string {
	texts := maps.Clone(host)
	keys := slices.Sorted(maps.Keys(texts))
	for range 1 + r.IntN(3) {
		text := texts[keys[r.IntN(len(keys))]]
		if links := texts["ip -s -d link show"] + texts["ifconfig -a"]; links != "" && r.IntN(3) > 0 {
			text = links
		}
		old := ""
		if found := nameIn.FindAllStringSubmatch(text, 200); len(found) > 0 && r.IntN(2) == 0 {
			for _, group := range found[r.IntN(len(found))][1:] {
				old = max(old, group)
			}
		} else if words := word.FindAllString(text, 5000); len(words) > 0 {
			old = words[r.IntN(len(words))]
		}
		if old == "" {
			continue
		}
		attack := attacks[r.IntN(len(attacks))]
		if r.IntN(3) == 0 {
			attack = old + attack
		}
		if r.IntN(4) == 0 {
			attack = attack[:min(len(attack), 15)]
		}
		count := -1
		if r.IntN(3) == 0 {
			count = 1
		}
		for _, key := range keys {
			texts[key] = strings.Replace(texts[key], old, attack, count)
			if renamed := strings.Replace(key, old, attack, 1); renamed != key && strings.HasPrefix(key, "ethtool ") {
				texts[renamed] = texts[key]
			}
		}
	}
	return texts
}

// planOf goes the whole way from outputs to a plan; not ok when they are no host
// any more. Of a described host the names are known and no setting, so that
// everything is planned.
func planOf(t testing.TB, c *catalog.Catalog, texts map[string]string, role string, described bool) (Plan, bool) {
	t.Helper()
	f, err := facts.FromTexts("host", texts, 0)
	if err != nil {
		return Plan{}, false
	}
	path := netpath.Path{Rate: 10 * units.Gbit, RTT: 50 * time.Millisecond, MTU: 9000, Measured: map[string]string{"mtu": "ping"}}
	m := MachineOf(f)
	if m.Cores == 0 {
		m.Cores = 8
	}
	if m.Memory == 0 {
		m.Memory = 64 * units.GiB
	}
	if described {
		m.Running = nil
		for i := range m.Interfaces {
			m.Interfaces[i].Queues, m.Interfaces[i].RingMax = 4, 4096
		}
	}
	p, err := Make(c, Request{Path: path, Role: role, Machine: m, Harden: true})
	if err != nil {
		t.Errorf("no plan: %v", err)
		return p, false
	}
	return p, true
}

// TestMutatedHosts sends recorded hosts with hostile names through facts, plan,
// files and a shell. WIRERATE_MUTATIONS is how many, 150 unless said.
func TestMutatedHosts(t *testing.T) {
	if os.Getenv("WIRERATE_CAPTURES") == "" {
		t.Log("WIRERATE_CAPTURES names no folder of recorded hosts: only the repository's own are taken")
	}
	c, tr, hosts := loaded(t), newTracer(t), fixtures(t)
	n := 150
	if s := os.Getenv("WIRERATE_MUTATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("WIRERATE_MUTATIONS: %v", err)
		}
	}
	planned, changes, unfit := 0, 0, 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		texts := mutated(r, hosts[r.IntN(len(hosts))])
		role := catalog.Roles()[r.IntN(len(catalog.Roles()))]
		p, ok := planOf(t, c, texts, role, r.IntN(2) == 0)
		if !ok {
			continue
		}
		planned, changes = planned+1, changes+len(p.Changes)
		unfit += len(slices.DeleteFunc(slices.Clone(p.Kept), func(k Kept) bool { return !strings.HasPrefix(k.Because, "not planned: ") }))
		harmlessPlan(t, p)
		if r.IntN(5) == 0 {
			tr.traced(t, p)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(c, data); err != nil {
			t.Errorf("the plan is refused: %v", err)
		}
		if t.Failed() {
			t.Fatalf("mutation %d, role %s", i, role)
		}
	}
	t.Logf("%d of %d hosts were planned: %d changes, %d names kept out", planned, n, changes, unfit)
	if planned < n/2 || changes < n || unfit == 0 {
		t.Error("the mutations reach too little")
	}
}

// FuzzTextsToFiles is the way from a host's outputs to files: the text takes the
// place of a word of a recorded host, wherever that stands. The inputs are short,
// so that the fuzzer's time goes into runs and not into making them shorter.
func FuzzTextsToFiles(f *testing.F) {
	c := loaded(f)
	hosts := slices.DeleteFunc(fixtures(f), func(host map[string]string) bool {
		size := 0
		for _, text := range host {
			size += len(text)
		}
		return size > 1<<13 || host["ip -s -d link show"]+host["ifconfig -a"] == ""
	})
	for i, attack := range attacks {
		f.Add(byte(i), uint16(i%3), attack, byte(i*37))
	}
	f.Fuzz(func(t *testing.T, host byte, place uint16, text string, role byte) {
		if len(text) > 1<<10 {
			return
		}
		texts := maps.Clone(hosts[int(host)%len(hosts)])
		links := texts["ip -s -d link show"] + texts["ifconfig -a"]
		if place%2 == 1 {
			links = texts["sysctl -a"] + texts["uname -a"]
		}
		words := word.FindAllString(links, 400)
		if len(words) == 0 {
			return
		}
		old := words[int(place/2)%len(words)]
		for key := range texts {
			texts[key] = strings.ReplaceAll(texts[key], old, text)
		}
		if p, ok := planOf(t, c, texts, catalog.Roles()[int(role)%len(catalog.Roles())], role >= 128); ok {
			harmlessPlan(t, p)
		}
	})
}

// FuzzPlanFile reads plans of anybody.
func FuzzPlanFile(f *testing.F) {
	c := loaded(f)
	const form = `{"schema":2,"os":"%s","role":"web","changes":[{"setting":"%s","value":"%s","belongs":"%s"}],"bindings":[{"nic":"%s"}]}`
	for i, attack := range attacks {
		quoted := strings.Trim(strconv.Quote(strings.ToValidUTF8(attack, "")), `"`)
		f.Add(fmt.Sprintf(form, "linux", "net.core.rmem_max", quoted, "sysctl", "eth0"))
		f.Add(fmt.Sprintf(form, "linux", "ethtool:ring/rx@"+quoted, "1", "ethtool", "eth0"))
		f.Add(fmt.Sprintf(form, catalog.Systems()[i%3], "net.inet.tcp.mssdflt", "1", "loader", quoted))
	}
	f.Add(fmt.Sprintf(form, "freebsd", "net.inet.tcp.mssdflt", "1460", "sysctl", "ix0"))
	f.Add(`[{"schema":2,"os":"openbsd","role":"router","changes":[{"setting":"pf:set/limit/states","value":"10","belongs":"pf"}],"aggregates":[{"name":"aggr0","links":["ix0"]}]}]`)
	f.Fuzz(func(t *testing.T, data string) {
		plans, err := Read(c, []byte(data))
		if err != nil {
			return
		}
		for _, p := range plans {
			for _, file := range filesOf(t, p) {
				harmless(t, file)
			}
		}
	})
}

// TestLanguages: each quoting function gives one scalar, line or word of any
// text.
func TestLanguages(t *testing.T) {
	tr := newTracer(t)
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.OneOf(rapid.SampledFrom(attacks), rapid.String()).Draw(r, "text")
		var back any
		if err := yaml.Unmarshal([]byte("a: "+strings.TrimPrefix(yamlText(s), "!unsafe ")+"\n"), &back); err != nil {
			r.Fatalf("%q: %v", yamlText(s), err)
		}
		if got := back.(map[string]any)["a"]; len(back.(map[string]any)) != 1 || strings.ToValidUTF8(s, "") == s && got != s {
			r.Fatalf("%q is read as %q", s, got)
		}
		for _, line := range []string{iniLine("option", s), unitOption("Option", s), remark(s)} {
			if strings.Count(line, "\n") != 1 || strings.HasSuffix(line, "\\\n") || strings.ContainsAny(line, "\r\x00") {
				r.Fatalf("%q", line)
			}
		}
		for line := range strings.Lines(comment(s)) {
			if line[0] != '#' || strings.HasSuffix(line, "\\\n") || terminal.Escape(line) != line || strings.Contains(line, "{{") {
				r.Fatalf("%q", line)
			}
		}
		unit := unitWord(s)
		if inner, err := strconv.Unquote(strings.NewReplacer("\u2028", " ").Replace(unit)); strings.ToValidUTF8(s, "") == s && !strings.ContainsAny(s, "\x00\u2028") && (err != nil || strings.NewReplacer("$$", "$", "%%", "%").Replace(inner) != s) && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			r.Fatalf("%q is read as %q: %v", unit, inner, err)
		}
		if strings.Contains(unit, "\n") {
			r.Fatalf("%q", unit)
		}
	})
	for _, s := range attacks {
		calls := tr.run(t, "ip "+shell.Word(s)+" "+shell.Quote(s)+"\n")
		bare := strings.ReplaceAll(s, "\x00", "")
		if len(calls) != 1 || !slices.Equal(calls[0], []string{"ip", bare, bare}) {
			t.Errorf("%q runs %q", s, calls)
		}
	}
}
