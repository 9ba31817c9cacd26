package diagnose

// Rules lists every rule, in the order in which findings of one severity are
// shown: causes before their consequences.
func Rules() []Rule {
	return []Rule{
		lostBetween(), endsDiffer(), tunnelSilent(), tunnelRelayed(), windowScalingOff(), halfDuplex(), duplexMismatch(), slowLink(),
		duplicateAddress(), opticFault(), noCarrier(), noopQdisc(), netemLeft(),
		pcieLinkLost(), cardNotStarted(), pcieCorrected(), iommuFault(), driverMemory(), cardHot(), processorStuck(), tasksHung(), transmitTimeout(), usbErrors(), transmitStalled(),
		netmapOffload(), guestPackets(), linkFlaps(), carpFlaps(), iscsiLost(), mapFailed(),
		pcieNarrow(), usbBus(), cloudAllowance(), pcieBelow(), linkErrors(), wirelessSlow(), wirelessDisconnects(), accessLine(), oversized(), mtuMismatch(),
		pmtuBlackHole(), tunnelMTU(), pathMTU(), nameLookupSlow(), connectSlow(), serversRefuse(), proxyQueue(), proxyBusy(),
		unclosed(), programLimit(), cpuThrottled(), answerSlow(), checksums(), nameServersSilent(), ipsecErrors(), memoryShort(), tlsHandshakeLate(),
		loadLate(), loadRefused(), loadSaturated(),
		fullSegments(), fragments(),
		mbufDenied(), mbufNearLimit(), socketsNearLimit(), memoryExhausted(), outOfMemory(), mbufDelayed(), zoneFailures(), tcpMemory(), slowReader(),
		slowReceiver(), noBuffers(),
		acceptQueueFull(), listenOverflow(), backlogCut(), peerSilent(), synFlood(), synCookies(),
		conntrackFull(), expectationsFull(), conntrackDrops(), pfStates(), pfSourceLimits(), pfCongestion(), neighboursFull(), netlinkOverrun(), ports(),
		timestampsRejected(), signaturesRefused(), reversePath(), routingLoop(), neighbourSilent(), routeDetour(), lateAcks(), routeWindow(),
		timeWaitOverflow(),
		cpuSaturated(), processorCost(), cpuStolen(), coreSaturated(), packetThread(), pollerSaturated(), netmapRing(), programCore(), coreTold(),
		oneCore(), oneQueue(), busyQueue(), interruptStorm(),
		netisrThread(), netisrDrops(), inputQueue(),
		aspmLoss(), ringSmall(), ringDrops(), virtualFunctionDrops(), powerSaving(), pauseFrames(), mixedSpeeds(),
		softnetDropped(), softnetSqueezed(), numaFar(),
		emulatedCard(), arrayRebuilds(), diskBusy(), diskWait(), diskErrors(), poolWait(),
		lroForwarding(), offloadsOff(), linkFull(), shaperFull(), shaperGiants(), shaperFIFO(), qdiscDrops(), sendRingFull(), tapQueue(), overlayDrops(), bundlePort(),
		shaperLimit(), bondBalance(), testWindow(), programBuffer(), sshWindow(), hundredMegabit(), testProgram(), slowerLink(), bufferbloat(), delayedRoundTrips(), interruptModeration(), bondAggregator(),
		windowBelowPath(), peerNotReading(), receiveLimited(), sendLimited(), scalingStripped(), cwndLimited(),
		nfsMountOptions(), nfsRetransmits(), nfsSlow(), serverSilent(), clusterHostsSilent(), cephSlow(), pathLoss(), memberDown(), sendErrors(),
		receivePruned(), backlogDrops(), udpBuffer(), udpMemory(), dropNamed(), datagramsLost(), receiveDropped(),
		tunnelReplay(), rdmaLosses(), alarmedDrops(), countedLosses(),
		sackOff(), timestampsOff(), congestionControlUnfit(), retransmissions(), reordering(), spurious(),
		energyEthernet(), cpuIdle(), lowFrequency(), hyperThreading(), entropy(), acceptFilter(), hostCache(), clockSource(),
		refusalsLimited(), settingHarmful(), settingNoEffect(), settingInFile(), reported(),
	}
}
