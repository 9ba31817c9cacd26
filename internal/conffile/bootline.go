package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// bareArguments are arguments of the kernel alone on a line.
var bareArguments = regexp.MustCompile(`^(?:[a-z_.]+=[^ \t]+[ \t]+)*(?:isolcpus|nohz_full|rcu_nocbs|mitigations|intel_idle\.max_cstate|` +
	`intel_pstate|processor\.max_cstate|transparent_hugepage)=[^ \t]+(?:[ \t]+(?:[a-z][a-z0-9_.]*=[^ \t]*|[a-z]+_[a-z_]+|quiet|splash|nosmt))*$`)

// bootEntry is a line of a boot loader's file that holds the arguments of the kernel: entries of systemd-boot, GRUB,
// syslinux and extlinux, refind_linux.conf, and variables of U-Boot and of the files that set them.
var bootEntry = regexp.MustCompile(`^(?:(?:options|append|APPEND|linux(?:16|efi)?|kernel)[ \t]+|"[^"]+"[ \t]+|` +
	`(?:setenv|env set)[ \t]+(?:bootargs|extraargs)[ \t=]+|(?:bootargs|extraargs)[ \t]*=[ \t]*)`)

// bootWord is an argument that tells a kernel's command line from other words.
var bootWord = regexp.MustCompile(`(?:^|[ \t"'])(?:root=[^ \t]|rootwait(?:[ \t]|$)|console=tty|rootfstype=)`)

// bootArguments is where in a line the arguments of a kernel stand; to is 0 in other lines.
func bootArguments(text string) (from, to int) {
	if bareArguments.MatchString(text) {
		return 0, len(text)
	}
	from, to = 0, len(text)
	m := bootEntry.FindStringIndex(text)
	switch {
	case m != nil && (bootWord.MatchString(text) || strings.Contains(text[:m[1]], "args")):
		from = m[1]
	case m == nil && bootWord.MatchString(text) && !strings.ContainsAny(text, "\"'`$(){}<>;|"):
	default:
		return 0, 0
	}
	if quote := text[from:]; quote != "" && (quote[0] == '"' || quote[0] == '\'') {
		if end := strings.IndexByte(quote[1:], quote[0]); end >= 0 {
			from, to = from+1, from+1+end
		}
	}
	for word := range strings.FieldsSeq(text[from:to]) {
		if name, _, _ := strings.Cut(word, "="); !kernelWord.MatchString(name) && word[0] != '/' && word[0] != '$' && word[0] != '-' {
			return 0, 0 // a sentence
		}
	}
	return from, to
}
