package emulator

import (
	"os"
	"strings"
	"testing"
)

func TestShareOfSeveralLabs(t *testing.T) {
	for _, c := range []struct {
		own, all, processors int
		want                 float64
	}{
		{2, 2, 2, 1}, {4, 4, 2, 1}, {2, 2, 1, 1}, // alone
		{2, 4, 2, 0.5}, {2, 8, 2, 0.25}, {6, 8, 2, 0.75},
		{2, 8, 8, 1}, {2, 16, 8, 0.5}, // a processor for each
		{2, 0, 2, 1},
	} {
		if got := shareOf(c.own, c.all, c.processors); got != c.want {
			t.Errorf("%d of %d on %d: %g, want %g", c.own, c.all, c.processors, got, c.want)
		}
	}
}

func TestEnginesAreCountedByNames(t *testing.T) {
	const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00000000 0002 01 100 @wirerate-emulator/2/ABC
0000000000000000: 00000002 00000000 00000000 0002 01 101 @wirerate-emulator/4/DEF
0000000000000000: 00000002 00000000 00000000 0002 01 102 @wirerate-emulator/999999/X
0000000000000000: 00000002 00000000 00000000 0002 01 103 @wirerate-emulator/-5/X
0000000000000000: 00000002 00000000 00000000 0002 01 104 @wirerate-emulator/
0000000000000000: 00000002 00000000 00010000 0001 01 105 /run/x @wirerate-emulato
`
	if got := countEngines(strings.NewReader(table)); got != 6 {
		t.Errorf("%d, want 6", got)
	}
}

// Labs find each other and share; when one ends the other has all again.
func TestBudgetsFindEachOther(t *testing.T) {
	if os.Geteuid() != 0 || !realTimeAllowed() {
		t.Skip("no real-time class here")
	}
	first := NewBudget(512) // more than other labs on this machine have
	defer first.Close()
	alone := first.most()
	second := NewBudget(512)
	first.look()
	if both := first.most(); both >= alone || second.most() != both {
		t.Errorf("alone %g, side by side %g and %g", alone, both, second.most())
	}
	second.Close()
	first.look()
	if again := first.most(); again < 0.9*alone {
		t.Errorf("alone %g, alone again %g", alone, again)
	}
}
