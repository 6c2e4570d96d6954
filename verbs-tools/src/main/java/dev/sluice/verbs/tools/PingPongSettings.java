// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvPortAttr;

/**
 * Settings of a ping-pong, which {@link PingPongCommand} makes of its options. Both sides need the
 * same sizes and numbers of messages.
 *
 * @param size bytes of a message
 * @param mtu path MTU
 * @param rxDepth number of receives to keep posted
 * @param iters total number of messages that each side sends
 * @param queuePairs number of queue pairs; more than one only with {@link PingPongType#SRQ}
 * @param client true for the side that sends first
 * @param ext true to post with the work request API and to poll an extended completion queue
 */
record PingPongSettings(
    PingPongType type,
    int size,
    IbvPortAttr.Mtu mtu,
    int rxDepth,
    int iters,
    int queuePairs,
    boolean client,
    boolean ext) {}
