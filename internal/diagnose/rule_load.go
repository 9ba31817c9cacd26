package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// loadSaturated finds load tests in which more connections brought no more requests.
func loadSaturated() Rule {
	return Rule{
		ID: "load-saturated", Title: "More connections do not increase the " +
			"request rate", Needs: []string{"load tests"}, Severity: Info,
		Because: "The fewer connections already saturate something: the server's CPUs, its workers, its backend (a database), " +
			"or the CPUs of the load generator. Additional connections only wait: latency = connections / requests per second.",
		Confirm: "mpstat -P ALL 1 during the test shows busy CPUs at the server or at the load generator; with far fewer " +
			"connections the rate is the same and each request faster.",
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
				return decisive(do("check the server during the test: mpstat -P ALL 1, free workers, database time; then the load "+
					"generator",
					one(cmp.Or(many.Target, "load test"), []facts.Source{few.Source, many.Source},
						"%d connections got %s requests/s, %d connections %s", few.Connections, units.Digits(few.Rate, 4),
						many.Connections, units.Digits(many.Rate, 4))))
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
		ID: "load-unanswered", Title: "Requests of a load test time out", Needs: []string{"load tests"},
		Severity: Info,
		Because: "The server's workers or its accept queue are full, or packets are lost. The mean and the percentiles do not " +
			"include these requests.",
		Confirm: "On the server, ss -ltn shows a full queue, or nstat -az TcpExtListenDrops grows; if not, its own log shows " +
			"the slow requests.",
		Check: func(in Input) []Finding {
			const least = 0.005
			for _, l := range in.Facts.LoadTests {
				if asked := l.Requests + l.Late; l.Late >= 5 && float64(l.Late) >= least*float64(asked) {
					return decisive(do("check the server during the test: ss -ltn for a full accept queue, free workers, mpstat -P ALL 1",
						one(cmp.Or(l.Target, "load test"), []facts.Source{l.LateLine, l.Source},
							"%d of %d requests over %d connections timed out", l.Late, asked, l.Connections)))
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
		ID: "load-refused", Title: "A load test measured error responses", Needs: []string{"load tests"},
		Severity: Info,
		Because: "An error is cheaper to serve than the real content, or means overload (503): the rate and latency are not " +
			"those of the service.",
		Confirm: "curl -i on the same URL shows the status.",
		Check: func(in Input) []Finding {
			const least = 0.05
			for _, l := range in.Facts.LoadTests {
				if l.Requests > 0 && float64(l.Refused) >= least*float64(l.Requests) {
					return decisive(do("find the status code in the server's log or with curl -i, fix it, and repeat the test",
						one(cmp.Or(l.Target, "load test"), []facts.Source{l.RefusedLine, l.Source},
							"%d of %d responses had an error status", l.Refused, l.Requests)))
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
