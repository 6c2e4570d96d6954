package dev.sluice.rdma;

import java.util.List;

/**
 * A work request for the receive queue: {@code struct ibv_recv_wr}.
 *
 * @param wrId returned in the work completion
 * @param scatterGather local memory that takes the incoming SEND
 */
public record ReceiveWorkRequest(long wrId, List<ScatterGatherEntry> scatterGather) {}
