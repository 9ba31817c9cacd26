package conffile

import (
	"strings"
	"testing"
)

func TestKernelConf(t *testing.T) {
	const conf = "include GENERIC\nident GATE\noptions \tDUMMYNET,IPDIVERT # both\noptions HZ=2000\n#options IPX\nnooptions INET6\ndevice pf\n"
	if g := Detect("GATE", []byte(conf)); g.Kind != KernelConf || g.System != FreeBSD {
		t.Errorf("detected as %v", g)
	}
	f, err := Parse(KernelConf, FreeBSD, "GATE", []byte(conf))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Entries {
		got = append(got, e.Name+"="+e.Value)
	}
	if all := strings.Join(got, " "); all != "DUMMYNET=1 IPDIVERT=1 HZ=2000" {
		t.Errorf("read %s", all)
	}
	for _, other := range []string{
		"# $NetBSD$\noptions PFIL_HOOKS\noptions HZ=100\n", "options PFIL_HOOKS\noptions IPSEC_ESP\n", "options IPFIREWALL are read by config\n",
		"options IPFIREWALL\npseudo-device bpfilter\n", "options ixgbe RSS=1,1\n",
	} {
		if kernelText(other) {
			t.Errorf("%q is taken for a kernel's configuration of FreeBSD", other)
		}
	}
}
