package workload

// Limit is what bounded a run.
type Limit struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of limits.
const (
	LimitPath      = "path"        // its rate, or its queue
	LimitLoss      = "loss"        // of the path
	LimitRoundTrip = "round-trip"  // with so many connections, each waits for it
	LimitClients   = "clients"     // how many there were
	LimitSender    = "sender"      // the client's generator
	LimitRouter    = "router"      // what forwards between the two
	LimitReceiver  = "receiver"    // its socket buffer, or its program
	LimitWindow    = "window"      // the receive window
	LimitSendBuf   = "send-buffer" // of the sending socket
	LimitServerCPU = "server-cpu"
	LimitClientCPU = "client-cpu"
	LimitPorts     = "ports"        // of the client towards one address
	LimitAccept    = "accept-queue" // of the server
	LimitFiles     = "open-files"   // of a process
)
