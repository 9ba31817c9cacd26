package facts

import (
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// Told is the path as the words of a post tell it, beside the outputs; zero is what they do not.
type Told struct {
	Rate       units.Rate    `json:"rate_bps,omitempty"`
	RateSource Source        `json:"rate_source,omitzero"`
	RTT        time.Duration `json:"rtt_ns,omitempty"`
	RTTSource  Source        `json:"rtt_source,omitzero"`
	// Alone is what one connection is said to reach, Together what several are, in a post without outputs.
	Alone    TransferEnd `json:"alone,omitzero"`
	Together TransferEnd `json:"together,omitzero"`
}
