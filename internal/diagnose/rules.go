package diagnose

// Rules lists every rule, in the order in which findings of one severity are
// shown: causes before their consequences.
func Rules() []Rule {
	return []Rule{
		windowScalingOff(), halfDuplex(), slowLink(), duplicateAddress(), transmitTimeout(), linkFlaps(),
		pcieNarrow(), pcieBelow(), linkErrors(), oversized(), mtuMismatch(), pmtuBlackHole(),
		mbufDenied(), memoryExhausted(), mbufNearLimit(), mbufDelayed(), zoneFailures(), tcpMemory(), slowReceiver(), noBuffers(),
		acceptQueueFull(), listenOverflow(), synCookies(), synFlood(),
		conntrackFull(), conntrackDrops(), pfStates(), pfSourceLimits(), neighboursFull(), ports(),
		coreSaturated(), oneCore(), oneQueue(), interruptStorm(), netisrThread(), netisrDrops(), inputQueue(),
		ringSmall(), ringDrops(), pauseFrames(), mixedSpeeds(), softnetDropped(), softnetSqueezed(), numaFar(),
		lroForwarding(), offloadsOff(), qdiscDrops(), bufferbloat(), bondBalance(),
		slowReader(), receiveLimited(), sendLimited(), cwndLimited(), receivePruned(), backlogDrops(), udpBuffer(), receiveDropped(),
		sackOff(), timestampsOff(), congestionControlUnfit(), retransmissions(), reordering(), spurious(), checksums(),
		energyEthernet(), cpuIdle(), hyperThreading(), entropy(), acceptFilter(), hostCache(), clockSource(),
	}
}
