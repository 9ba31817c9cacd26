package conffile

import (
	"strings"
	"testing"
)

func TestSedGrub(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{`sed -i 's/^GRUB_CMDLINE_LINUX=.*/GRUB_CMDLINE_LINUX="quiet mitigations=off"/' /etc/default/grub`, "quiet mitigations=off"},
		{`sed -i 's|\(GRUB_CMDLINE_LINUX_DEFAULT="[^"]*\)"|\1 idle=poll"|' /etc/default/grub`, "idle=poll"},
		{`sed -i -e 's/GRUB_CMDLINE_LINUX="/&intel_iommu=on /' /etc/default/grub`, "intel_iommu=on"},
		{`sed -i "s/GRUB_CMDLINE_LINUX=\"\"/GRUB_CMDLINE_LINUX=\"ipv6.disable=1 a=$b\"/" /etc/default/grub`, "ipv6.disable=1"},
		{`sed -i "/^GRUB_CMDLINE_LINUX_DEFAULT=/ s/\"\(.*\)\"/\"\1 isolcpus=2-5\"/" /etc/default/grub`, "isolcpus=2-5"},
		{`grubby --update-kernel=ALL --args="iommu=pt nohz_full=2-5"`, "iommu=pt nohz_full=2-5"},
		{`grubby --update-kernel ALL --args idle=poll --remove-args quiet`, "idle=poll"},
		{`sed -i 's/quiet/idle=poll/' /etc/default/grub`, ""},
		{`sed -i 's/GRUB_CMDLINE_LINUX/x' /etc/default/grub`, ""},
		{`sed -i 's/GRUB_CMDLINE_LINUX=""/GRUB_CMDLINE_LINUX="idle=poll"/' /etc/motd`, ""},
		{`sed -i '$a GRUB_TIMEOUT=5' /etc/default/grub`, ""},
	} {
		var got []string
		err := Scan(Script, Linux, "a.sh", "#!/bin/sh\n"+tt.command+"\n", func(e Entry) bool {
			got = append(got, strings.TrimSuffix(e.Key+"="+e.Value, "="))
			return true
		}, func(Reject) {})
		if text := strings.Join(got, " "); err != nil || text != tt.want {
			t.Errorf("%s: %q (%v), want %q", tt.command, text, err, tt.want)
		}
	}
}
