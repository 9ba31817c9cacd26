package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// Each host of a post is read; what is of one of which no output is known is said.
func TestLoadEach(t *testing.T) {
	name := filepath.Join(t.TempDir(), "post.txt")
	session := "[root@web1 ~]# netstat -s | grep listen\n    5 times the listen queue of a socket overflowed\n" +
		"root@nas:~ # netstat -m\n0/812/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n" +
		"admin@switch> show interfaces\nxe-0/0/1  up  9999\n"
	if err := os.WriteFile(name, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := LoadEach(name)
	if err != nil || len(all) != 2 || all[0].Host != "web1" || all[1].Host != "nas" {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"linux", "freebsd"} {
		f, err := all[i].Facts(name)
		if err != nil || string(f.System) != want || f.Node != all[i].Host {
			t.Errorf("%s: %s %s, %v", all[i].Host, f.System, f.Node, err)
		}
		if i == 0 && len(f.Unread) != 1 {
			t.Errorf("unread: %+v", f.Unread)
		}
	}
}
