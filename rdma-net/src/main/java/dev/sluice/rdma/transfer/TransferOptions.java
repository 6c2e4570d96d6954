package dev.sluice.rdma.transfer;

import dev.sluice.rdma.ConnectionAttributes;

/**
 * Limits and times of an endpoint.
 *
 * @param bufferPoolBytes registered bytes of the buffer pool at most
 * @param maxQueuePairs queue pairs at most, connecting and accepted ones each
 * @param sendQueueDepth work requests under way on a queue pair
 * @param maxReadBytes bytes of one READ work request; longer ranges are split
 * @param connectTimeoutMs a queue pair that is not connected by then has failed
 * @param idleTimeoutMs a queue pair without READs for so long is closed
 * @param circuitFailures failures in a row after which a peer is not tried for a while
 * @param circuitCooldownMs how long
 * @param spinMicros how long the completion thread polls before it sleeps
 * @param connection attributes of the connections
 */
public record TransferOptions(
    long bufferPoolBytes,
    int maxQueuePairs,
    int sendQueueDepth,
    int maxReadBytes,
    int connectTimeoutMs,
    int idleTimeoutMs,
    int circuitFailures,
    int circuitCooldownMs,
    int spinMicros,
    ConnectionAttributes connection) {}
