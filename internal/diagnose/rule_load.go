package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// loadSaturated finds load tests in which more connections brought no more requests.
func loadSaturated() Rule {
	return Rule{
		ID: "load-saturated", Title: "More connections bring no more requests", Needs: []string{"load tests"}, Severity: Info,
		Because: "Something serves as many requests as it can already with the fewer connections; the others only wait: the " +
			"time of a request is connections divided by requests a second. It is the server's processors, its workers or what " +
			"it asks (a database), or the tool's own processors.",
		Confirm: "mpstat -P ALL 1 during the test shows full processors at the server or at the tool; with connections far " +
			"below these numbers the rate is the same and each request quicker.",
		Check: func(in Input) []Finding {
			const more, same = 1.3, 0.05
			tests := slices.DeleteFunc(slices.Clone(in.Facts.LoadTests), func(l facts.LoadTest) bool {
				return l.Paced || l.Late > 0 || l.Refused > 0
			})
			slices.SortStableFunc(tests, func(a, b facts.LoadTest) int {
				return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Connections, b.Connections))
			})
			for i := 1; i < len(tests); i++ {
				few, many := tests[i-1], tests[i]
				if few.Target != many.Target || float64(many.Connections) < more*float64(few.Connections) ||
					many.Rate < (1-same)*few.Rate || many.Rate > (1+same)*few.Rate {
					continue
				}
				return decisive(do("look at the server during the test: mpstat -P ALL 1, its free workers, the time of its "+
					"database; then at the machine of the tool",
					one(cmp.Or(many.Target, "load test"), []facts.Source{few.Source, many.Source},
						"%d connections were served %.4g requests a second, %d connections %.4g", few.Connections, few.Rate,
						many.Connections, many.Rate)))
			}
			return nil
		},
		Fires: linuxExample("wrk", wrkExample(200, "7010.31", "")+wrkExample(400, "7022.04", "")),
		Quiet: linuxExample("wrk", wrkExample(200, "7010.31", "")+wrkExample(400, "12022.04", "")),
	}
}

// loadLate finds load tests of which requests got no answer in time.
func loadLate() Rule {
	return Rule{
		ID: "load-unanswered", Title: "Requests of a load test get no answer in time", Needs: []string{"load tests"},
		Severity: Info,
		Because: "The tool waited for its whole timeout: the server's workers or its accept queue are full, or packets are " +
			"lost. The mean and the percentiles do not hold these requests.",
		Confirm: "On the server ss -ltn shows a full queue, or nstat -az TcpExtListenDrops grows; if not, its own log names " +
			"the requests that took so long.",
		Check: func(in Input) []Finding {
			const least = 0.005
			for _, l := range in.Facts.LoadTests {
				if asked := l.Requests + l.Late; l.Late >= 5 && float64(l.Late) >= least*float64(asked) {
					return decisive(do("look at the server during the test: ss -ltn for a full accept queue, its free workers, "+
						"mpstat -P ALL 1",
						one(cmp.Or(l.Target, "load test"), []facts.Source{l.LateLine, l.Source},
							"%d of %d requests over %d connections got no answer in time", l.Late, asked, l.Connections)))
				}
			}
			return nil
		},
		Fires: linuxExample("wrk", wrkExample(400, "101.31", "  Socket errors: connect 0, read 0, write 0, timeout 371\n")),
		Quiet: linuxExample("wrk", wrkExample(400, "7010.31", "  Socket errors: connect 0, read 9, write 0, timeout 0\n")),
	}
}

// loadRefused finds load tests that measured answers of an error.
func loadRefused() Rule {
	return Rule{
		ID: "load-refused", Title: "A load test measured answers that are errors", Needs: []string{"load tests"},
		Severity: Info,
		Because: "An error costs a server less than what was asked for, or means that it is overloaded (503): the rate and " +
			"the times are not those of the service.",
		Confirm: "curl -i of the same address shows the status.",
		Check: func(in Input) []Finding {
			const least = 0.05
			for _, l := range in.Facts.LoadTests {
				if l.Requests > 0 && float64(l.Refused) >= least*float64(l.Requests) {
					return decisive(do("see which status they have, in the server's log or with curl -i, and test again without them",
						one(cmp.Or(l.Target, "load test"), []facts.Source{l.RefusedLine, l.Source},
							"%d of %d answers had a status that is no success", l.Refused, l.Requests)))
				}
			}
			return nil
		},
		Fires: linuxExample("wrk", wrkExample(400, "101.31", "  Non-2xx or 3xx responses: 29011\n")),
		Quiet: linuxExample("wrk", wrkExample(400, "101.31", "")),
	}
}

func wrkExample(connections int, rate, errors string) string {
	return "Running 30s test @ http://192.0.2.7/\n  4 threads and " + counted(connections, "connection") +
		"\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    77.42ms    9.42ms 338.57ms   85.77%\n" +
		"  30211 requests in 30.01s, 61.42MB read\n" + errors + "Requests/sec:   " + rate + "\n"
}
