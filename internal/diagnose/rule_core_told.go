package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// coreTold finds the sentence of a post that says that a processor has no time left, where no output shows it.
func coreTold() Rule {
	return Rule{
		ID: "core-told", Title: "The text says that a CPU core is fully busy", Severity: Info, Needs: []string{"identity"},
		Because: "A core without idle time limits everything that runs on it; the packets of a router, a shaper or a tunnel often " +
			"run on one.",
		Confirm: "mpstat -P ALL 1 (FreeBSD: top -SHP) shows a core without idle time while it is slow.",
		Check: func(in Input) []Finding {
			f := in.Facts
			if f.AllProcessors != nil || len(f.Processors) > 0 || len(f.Threads) > 0 {
				return nil // they show it
			}
			for _, said := range statements(f.Rest) {
				if pppoe := oneCoreOfPPPoE.FindString(said.text); f.System == system.FreeBSD && pppoe != "" && !coreNotFull.MatchString(pppoe) {
					return sessionOnOneCore(saidAt(f, said))
				}
				if coreFull.MatchString(said.text) && !coreNotFull.MatchString(said.text) {
					return decisive(do("find what keeps it busy (top -H, mpstat -P ALL 1): spread packets over the cores (more queues, packet "+
						"steering) or make them cheaper (flow offload, fewer firewall rules); a shaper or a tunnel needs a faster core",
						one("CPU", saidAt(f, said), "according to the text, a core is fully busy")))
				}
			}
			return nil
		},
		Fires: Example{Texts: map[string]string{"uname -a": unameLinux}, Post: "Routing stops at 310 Mbit/s with one core at 100%.\n"},
		Quiet: Example{Texts: map[string]string{"uname -a": unameLinux}, Post: "Routing stops at 310 Mbit/s, no core is at 100%.\n"},
	}
}

// oneCoreOfPPPoE says that a session of PPPoE runs on one core, which on FreeBSD takes all packets of it in one receive queue.
var oneCoreOfPPPoE = regexp.MustCompile(`(?i)\bppp(?:oe)?\b[^.?]{0,80}\b(?:(?:(?:only|just) )?(?:one|a single|1) (?:cpu |of the )?(?:cores?|thread|queue)|` +
	`single[- ](?:core|thread(?:ed)?|queue))\b[^.,;(]{0,60}`)

// sessionOnOneCore is what is done about it: netisr spreads by the headers inside of the session.
func sessionOnOneCore(src []facts.Source) []Finding {
	found := decisive(do("let netisr spread the packets by their inner headers: net.isr.dispatch=deferred in /etc/sysctl.conf, and "+
		"net.isr.maxthreads=-1 with net.isr.bindthreads=1 in /boot/loader.conf; pfSense 2.8 has the faster if_pppoe",
		one("PPPoE", src, "according to the text, its packets run on one core")))
	found[0].Because = "A card cannot tell the flows inside of a PPPoE session apart: all of its packets arrive in one queue, and one core handles them."
	return found
}

const (
	coreWord = `\b(?:cpus?|cores?|processors?|k?softirqd?)\b`
	fullWord = `(?:\b(?:99|100) ?%|\b(?:maxed|maxes|maxing) out\b|\bpegged\b|\bsaturat(?:ed|es)\b)`
	linkWord = `(?:links?|lines?|connections?|uplinks?|networks?|bandwidth|pipe|ports?|gigabit|wan|memory|ram|fans?)\b`
)

// coreFull has a core beside the words for full; coreNotFull are words that make it a question, a condition, or something else
// that is full: a link, a core switch, a fan.
var (
	coreFull = regexp.MustCompile(`(?i)` + coreWord + `[^,%]{0,40}` + fullWord + `|` + fullWord + `(?: (?:of|on|at|in|for|a|an|one|the|` +
		`single|all|my|its|each|every|both|two|sys|kernel|usage|load|utili[sz]ation|\d{1,3}))* ` + coreWord +
		`|\bk?softirqd?\b[^,%]{0,30}\b[89]\d ?%|\b(?:full|100 ?%) (?:cpu|core) (?:usage|load|utili[sz]ation)\b`)
	coreNotFull = regexp.MustCompile(`(?i)\b(?:not|never|no|nor|neither|without|isn't|doesn't|don't|won't|can't|if|below|nowhere|barely|than|` +
		`should|would|could|might|may|idle|loss|lost|disk|sure|fine|low|health\w*|expect\w*|fixed|anymore|previously|used to)\b|n’t\b|\?|` +
		`\bcore (?:switch|router|network)|\bcpu (?:fan|clock|governor|freq)|\b(?:clock|governor)\b|` +
		`(?:saturat\w+|\bmax\w* out|%(?: of)?)(?: [\w/.'-]+){0,2} ` + linkWord + `|\b` + linkWord + `[^,%]{0,30}` + fullWord)
)
