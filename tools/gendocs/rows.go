package main

// rowNotes says which limit is seen by which row of a suite.
const rowNotes = `
## What the rows of a suite see

A limit shows in the rows that reach it, and in no other:

| limit | seen by | not by |
|---|---|---|
| a receive buffer of 8 KiB (` + "`net.ipv4.tcp_rmem`" + `) | single stream, four streams, both directions, the goodput under loaded latency, ` + "`http-large`" + ` | TCP connections, small files, UDP: an answer of 1 KiB fits |
| an accept queue of 4 (` + "`net.core.somaxconn`" + `) | TCP connections, HTTP small files | what opens few connections, once |
| 512 tracked or counted connections | TCP connections; HTTP small files with more clients than that | streams, and packets: four flows |
| 2,000 rules of a packet filter in front of each packet | UDP packets, TCP connections, requests; a stream where the processors bind | a stream on a slower link |

HTTP small files are fetched over connections that are kept, but the clients come anew: wrk, h2load and ab open all theirs
at the start, and the built-in client opens new ones at each rate that it tries, as fast as requests are due, with their first
requests counted from when those were due. So each sees what keeps new clients from a server: with an accept queue of 4 in a lab of
1 Gbit/s and 40 ms, on two busy processors, wrk made 11,600 requests/s instead of 18,200, the built-in client 1,600 instead of 5,700.

Two ends in a lab or in namespaces share this machine's processors with each other and, in a lab, with the emulated link. A
core that is busy is then nobody's own: ` + "`processor`" + ` bounds the run if the programs of the ends, the link and the network
interrupts used half of the busy time or more, and in a lab it says what each used; otherwise a warning says that other
programs did.

Before each run in a lab its hosts forget what the one before left in their kernels: metrics of paths, tracked connections,
client ports in TIME-WAIT. On other hosts tracked connections stay (a flush would cut those of others); a table that was half
full when a run began is named in a warning, and with the limit where it got full. A table is tried without
the machine's ` + "`net.netfilter.nf_conntrack_max`" + `, which a namespace cannot set, by a file of rules: ` + "`ct state new ct count over 512 drop`" + `.
`
