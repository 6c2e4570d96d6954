package dev.sluice.rdma;

/**
 * Limits of an open device and its port: the part of ibv_query_device(3) and ibv_query_port(3) that
 * decides what can be asked for.
 *
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairWr work requests of one queue
 * @param maxSge scatter/gather entries of one work request
 * @param maxCompletionQueues completion queues
 * @param maxCompletionQueueEntries entries of one completion queue
 * @param maxMemoryRegions memory regions
 * @param maxMemoryRegionSize bytes of one memory region
 * @param maxProtectionDomains protection domains
 * @param maxQueuePairRdAtomic READs and atomics that one queue pair serves at a time
 * @param maxQueuePairInitRdAtomic READs and atomics that one queue pair has under way
 * @param maxMessageSize bytes of one work request
 * @param maxInlineData bytes that may be posted inline
 */
public record DeviceAttributes(
    int maxQueuePairs,
    int maxQueuePairWr,
    int maxSge,
    int maxCompletionQueues,
    int maxCompletionQueueEntries,
    int maxMemoryRegions,
    long maxMemoryRegionSize,
    int maxProtectionDomains,
    int maxQueuePairRdAtomic,
    int maxQueuePairInitRdAtomic,
    long maxMessageSize,
    int maxInlineData) {}
