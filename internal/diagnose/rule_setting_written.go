package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// Written is a line of a configuration file that lint objects to.
type Written struct {
	Source   facts.Source
	Setting  string // as it is written
	Severity Severity
	Message  string // what is wrong with it, as a headline
	Because  string
	Action   string // what to do instead, empty where that is not known
}

// inFile is the ID of the rule of what is written.
const inFile = "setting-in-file"

// settingInFile passes on what lint says of lines of configuration files that stand beside the outputs.
func settingInFile() Rule {
	return Rule{
		ID: inFile, Title: "A configuration line is harmful, wrong or has no effect",
		Severity: Warning, Needs: []string{"identity"},
		Because: "The line was checked as wirerate lint checks configuration files.",
		Check: func(in Input) (out []Finding) {
			for _, w := range in.Written {
				found := with(w.Severity, one(w.Setting, []facts.Source{w.Source}, "%s", w.Message))
				found[0].Because = w.Because
				if w.Action != "" {
					found = do(w.Action, found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: Example{Texts: map[string]string{"uname -a": unameFreeBSD}, Written: []Written{{
			Source:  facts.Source{From: "post.txt", Line: 3, Text: "net.inet.tcp.sack.enable=0"},
			Setting: "net.inet.tcp.sack.enable", Severity: Warning,
			Message: "net.inet.tcp.sack.enable = 0 is harmful; the default is 1"}}},
		Quiet: freebsdExample("uname -a", unameFreeBSD),
	}
}
