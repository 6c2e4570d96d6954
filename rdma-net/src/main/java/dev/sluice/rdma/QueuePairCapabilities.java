package dev.sluice.rdma;

/**
 * Sizes of a queue pair's queues: {@code struct ibv_qp_cap} (ibv_create_qp(3)).
 *
 * @param maxSendWr work requests that the send queue holds
 * @param maxRecvWr work requests that the receive queue holds
 * @param maxSendSge scatter/gather entries of a send work request
 * @param maxRecvSge scatter/gather entries of a receive work request
 * @param maxInlineData bytes that may be posted inline
 */
public record QueuePairCapabilities(
    int maxSendWr, int maxRecvWr, int maxSendSge, int maxRecvSge, int maxInlineData) {}
