package transcript

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/input"
)

// folderLimit bounds what is read of all files of a folder, in bytes.
const folderLimit = 128 << 20

// folderEntries bounds how many files and folders are looked at in one.
const folderEntries = 200_000

// loadFolder reads outputs that were saved as files: an unpacked sosreport
// (sos_commands/networking/ethtool_-S_eth0, proc/net/snmp), or files named after
// their commands (netstat_-m.txt, "sysctl -a"). It returns the texts by the
// names that FromTexts takes, and the files in which nothing is known. A file
// under another name is read as a session, but in a sosreport, where the names are
// known and logs hold anything.
func loadFolder(root fs.FS) (map[string]string, []facts.Unread, error) {
	reports, _ := fs.Glob(root, "*/sos_commands") // the pattern is good
	_, err := fs.Stat(root, "sos_commands")
	isReport := err == nil || len(reports) > 0
	texts := map[string]string{}
	left := int64(folderLimit)
	var sessions []saved // what a file of its own says counts before what is in them
	err = input.Walk(root, folderEntries, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && p != "." {
				return fs.SkipDir // not readable: the rest still counts
			}
			return err
		}
		name := outputName(p)
		if !d.Type().IsRegular() || texts[name] != "" || name == "" && isReport || left <= 0 {
			return nil
		}
		if info, err := d.Info(); err != nil || name == "" && info.Size() > transcriptLimit {
			return nil
		}
		data, err := readStart(root, p)
		if err != nil {
			return nil // not readable: the rest still counts
		}
		left -= int64(len(data))
		if name == "" {
			sessions = append(sessions, saved{p, data})
		} else {
			texts[name] = withoutPrompt(string(data))
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var unread []facts.Unread
	of := Posted{Texts: texts}
	for _, s := range sessions {
		found := sortSession(splitSession(readable("$ " + fileCommand(s.path) + "\n" + string(s.data)))).Texts
		if u := s.unread(); len(found) == 0 && u.Words != "" && len(unread) < unreadLimit {
			unread = append(unread, u)
		}
		for name, text := range found {
			if texts[name] == "" {
				texts[name] = text
			}
		}
	}
	if len(texts) == 0 {
		return nil, nil, ErrNoOutputs
	}
	of.rounds = []facts.Round{{Texts: texts}}
	if texts["uname -a"] == "" {
		if texts["uname -a"], _ = guessIdentity(of.rounds); texts["uname -a"] == "" {
			return texts, unread, errNoSystem
		}
	}
	return texts, unread, nil
}

// saved is a file of a folder whose name says nothing.
type saved struct {
	path string
	data []byte
}

// unread names the file as one in which nothing is known.
func (s saved) unread() facts.Unread {
	lines := strings.Split(strings.TrimSuffix(string(s.data), "\n"), "\n")
	return facts.Unread{Line: 1, Lines: len(lines), Command: s.path, Words: words(lines),
		Because: "neither its name nor its text is that of a known output"}
}

// readStart reads as much of a file as is used of one source; one byte more
// tells that it is longer.
func readStart(root fs.FS, p string) ([]byte, error) {
	file, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := input.Stream(file, p, facts.TextLimit+1)
	if long := (*input.TooLarge)(nil); errors.As(err, &long) {
		err = nil
	}
	return plainText(data), err
}

// transcriptLimit bounds a file that is read only to see what it is.
const transcriptLimit = 4 << 20

// outputName finds what a file in a folder of outputs is; empty when it is
// nothing known.
func outputName(p string) string {
	return cmp.Or(facts.OutputOfFile(p), facts.OutputOfCommand(fileCommand(p)))
}

// fileCommand is the command after which a file is named, if it is.
func fileCommand(p string) string {
	words := path.Base(p)
	for _, end := range []string{".gz", ".bz2", ".zst", ".txt", ".out"} {
		words = strings.TrimSuffix(words, end)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(words, "_", " ")), " ")
}

// withoutPrompt takes off a first line that shows the command as typed.
func withoutPrompt(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	if ok && (strings.HasPrefix(first, "$ ") || strings.HasPrefix(first, "# ") || strings.HasPrefix(first, "% ")) {
		return "\n" + rest // line numbers stay those of the file
	}
	return s
}
