package link

import "slices"

// Profile is a named link with the source of its numbers.
type Profile struct {
	Name   string `json:"name"`
	Link   string `json:"link"` // as Parse reads it
	About  string `json:"about"`
	Source string `json:"source"`
}

const ookla, spring2022 = "Ookla Speedtest medians of the USA, ", "second quarter of 2022 " +
	"(https://telecompetitor.com/cox-nears-200-mbps-download-in-june-ookla-speedtest-results)"

// Profiles lists the named links. A queue that a source does not give is one
// BDP, the emulator's default.
func Profiles() []Profile { return slices.Clone(profiles) }

var profiles = []Profile{
	{
		Name: "dsl", Link: "rtt=15ms,up:rate=12mbit,down:rate=41mbit",
		About:  "DSL access",
		Source: ookla + spring2022 + ", CenturyLink: 41.29/12.02 Mbit/s, 15 ms",
	},
	{
		Name: "cable", Link: "rtt=14ms,up:rate=20mbit,down:rate=226mbit",
		About: "cable access (DOCSIS)",
		Source: ookla + "end of 2022, Comcast: 226.1/20.4 Mbit/s " +
			"(https://potsandpansbyccg.com/tag/ookla); " + spring2022 + ": 14 ms",
	},
	{
		Name: "fiber", Link: "rtt=8ms,up:rate=105mbit,down:rate=183mbit",
		About: "fibre access",
		Source: ookla + "end of 2022, Verizon: 183.2/104.9 Mbit/s " +
			"(https://potsandpansbyccg.com/tag/ookla); " + spring2022 + ": 8 ms",
	},
	{
		Name: "lte", Link: "rtt=31ms,up:rate=9300kbit,down:rate=78900kbit",
		About:  "mobile access, LTE and 5G together",
		Source: ookla + "end of 2022, mobile: 78.9/9.3 Mbit/s, 31 ms (https://potsandpansbyccg.com/tag/ookla)",
	},
	{
		Name: "3g", Link: "rtt=300ms,up:rate=768kbit,down:rate=1600kbit",
		About: "mobile access, 3G",
		Source: "WebPageTest (https://github.com/WPO-Foundation/webpagetest), settings/connectivity.ini.sample: " +
			"3G, 1.6 Mbit/s and 768 kbit/s, 300 ms",
	},
	{
		Name: "dsl-1m5", Link: "rtt=50ms,up:rate=384kbit,down:rate=1500kbit",
		About: "early DSL access",
		Source: "WebPageTest (https://github.com/WPO-Foundation/webpagetest), settings/connectivity.ini.sample: " +
			"DSL, 1.5 Mbit/s and 384 kbit/s, 50 ms",
	},
	{
		Name: "wifi", Link: "rate=200mbit,rtt=2ms,jitter=1ms,framing=ip",
		About: "802.11n with 40 MHz and two streams, nobody else on the channel",
		Source: "about 200 Mbit/s of UDP in one direction " +
			"(https://shop.duxtel.com.au/article_info.php?articles_id=46); the delays and the jitter are assumed",
	},
	{
		Name: "geo-satellite", Link: "rtt=629ms,up:rate=2960kbit,down:rate=18750kbit",
		About: "geostationary satellite",
		Source: ookla + "third quarter of 2021, Viasat: 18.75/2.96 Mbit/s " +
			"(https://techblog.comsoc.org/2021/12/21/ookla-q3-2021-satellite-internet-performance-finds-starlink-still-1-but-average-download-speed-decreased), 629 ms (https://advanced-television.com/2021/12/22/starlink-speeds-under-pressure); RFC 2488, section 2: propagation alone takes up to 558 ms",
	},
	{
		Name: "leo-satellite", Link: "rtt=40ms,up:rate=12mbit,down:rate=105mbit,jitter=5ms",
		About: "satellites in low orbit",
		Source: ookla + "fourth quarter of 2021, Starlink: 104.97/12 Mbit/s, 40 ms " +
			"(https://gamebastion.com/n/starlink-download-speeds-top-100mbps-in-q4/90962, after PCMag); the " +
			"quartiles of its round-trip times to servers all over Europe are 20 ms apart " +
			"(https://blog.apnic.net/2022/11/28/fact-checking-starlinks-performance-figures), of which distance " +
			"is a part: the jitter is assumed",
	},
	{
		Name: "metro-1g", Link: "rate=1gbit,rtt=2ms",
		About: "gigabit Ethernet within a region",
		Source: "definition: 1000BASE-T; 2 ms is 200 km of fibre at 10 ms for 1000 km there and back " +
			"(https://thebroadcastbridge.com/content/entry/3988)",
	},
	{
		Name: "transatlantic-10g", Link: "rate=10gbit,rtt=59ms",
		About: "10 Gbit/s between New York and London",
		Source: "Hibernia Express, tested: 58.95 ms there and back " +
			"(https://thebroadcastbridge.com/content/entry/3988)",
	},
	{
		Name: "datacenter-25g", Link: "rate=25gbit,rtt=100us,queue=1MiB,ecn=160packets",
		About: "25 Gbit/s within a data centre, shallow switch buffers that mark",
		Source: "RFC 8257 for the marking; Alizadeh et al., Data Center TCP (SIGCOMM 2010): 100 us, 65 packets " +
			"at 10 Gbit/s (as in their simulation, https://cnblogs.com/forcheryl/p/4185056.html), here in " +
			"proportion to the rate; the queue is assumed",
	},
	{
		Name: "t3", Link: "rate=44210kbit,rtt=25ms",
		About:  "the example path of RFC 6349",
		Source: "RFC 6349, section 3.3.1: T3, 44.21 Mbit/s, 25 ms",
	},
}

// FindProfile returns the profile of that name.
func FindProfile(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
