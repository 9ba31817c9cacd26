package cli

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

func TestNotFound(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, want string }{
		{"net.ipv4.tcp_rmen", "did you mean net.ipv4.tcp_rmem,"},
		{"tcp_rmen", "did you mean net.ipv4.tcp_rmem"},
		{"recbuf_max", "did you mean net.inet.tcp.recvbuf_max"},
		{"bellow-default", "did you mean below-default?"},
		{"bufferbloatt", "did you mean bufferbloat?"},
		{"bbr", "settings have the word: --search bbr"},
		{"zzzzzz", "--search finds settings"},
		{strings.Repeat("a", 5000), `aaa…" is not in the catalog`},
		{"a\x1b[31m\u202e\nb", `"a\x1b[31m\u202e b" is not in the catalog`},
	} {
		got := notFound(c, "", tt.name, nil).Error()
		if !strings.Contains(got, tt.want) || len(got) > 300 {
			t.Errorf("%.60q: %s", tt.name, got)
		}
	}
}
