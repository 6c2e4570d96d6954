package dev.sluice.rdma;

/**
 * Sizes of a queue pair's send queue: {@code struct ibv_qp_cap} (ibv_create_qp(3)).
 *
 * @param maxSendWr work requests that it holds
 * @param maxSendSge scatter/gather entries of a work request
 */
public record QueuePairCapabilities(int maxSendWr, int maxSendSge) {}
