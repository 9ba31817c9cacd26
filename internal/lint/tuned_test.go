package lint

import (
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// A TuneD profile is judged as what it sets, with its variables filled in.
func TestTunedProfile(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := list(Run(c, files("/etc/tuned/p/tuned.conf", "[main]\ninclude=x\n[variables]\nlow=4096\n[sysctl]\nnet.core.rmem_max=>${low}\n"+
		"net.ipv4.tcp_tw_recycle=1\nnet.ipv4.tcp_rmemm=1 2 3\nkernel.x=${unknown}\n[net]\nfeatures=gro off\n[bootloader]\ncmdline=y\n"),
		Options{Version: "6.12"}))
	want := "/etc/tuned/p/tuned.conf:6:19 below-default warning\n/etc/tuned/p/tuned.conf:7:1 removed warning\n" +
		"/etc/tuned/p/tuned.conf:8:1 unknown-key warning\n/etc/tuned/p/tuned.conf:9:1 unknown-key warning\n/etc/tuned/p/tuned.conf:11:10 harmful warning\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
