/**
 * Client side of the control channel: requests to the block servers of peers.
 *
 * <p>{@link dev.sluice.blocks.client.BlockServerClient} is the entry point, one per process. It has
 * a channel for each peer, which connects when needed and matches answers with requests. Each
 * request has a timeout and completes a future.
 *
 * <p>Requests to stage are limited by the heap that they take at the peer. A circuit breaker per
 * peer keeps one that hangs from being asked again and again.
 *
 * <p>The client moves no blocks: it returns leases and locations for READs.
 */
package dev.sluice.blocks.client;
