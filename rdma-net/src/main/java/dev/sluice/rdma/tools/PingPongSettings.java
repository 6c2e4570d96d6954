package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvMtu;

/**
 * What a ping-pong is to do.
 *
 * @param size bytes of a message
 * @param mtu of the path
 * @param rxDepth receives that are kept posted
 * @param iters messages that each side sends in all
 * @param queuePairs more than one with {@link PingPongType#SRQ} only
 * @param client whether this side sends first
 */
record PingPongSettings(
    PingPongType type,
    int size,
    IbvMtu mtu,
    int rxDepth,
    int iters,
    int queuePairs,
    boolean client) {}
