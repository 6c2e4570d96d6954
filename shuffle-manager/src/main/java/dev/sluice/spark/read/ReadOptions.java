package dev.sluice.spark.read;

/**
 * What the configuration says about reading.
 *
 * @param verifyChecksums verify Spark's partition checksums after a READ
 * @param readTimeoutMs blocks that no READ brought by then go by Spark's own transfer; for blocks
 *     that are READ to disk, the time without any progress
 * @param bufferWaitMs how long a READ waits for a free buffer
 * @param maxGroupBytes small blocks are READ together into one buffer of at most so many bytes
 * @param tableCacheBytes heap that cached partition tables may take
 * @param wireEncryption Spark encrypts its network, which READs are not: every remote block goes by
 *     Spark's own transfer
 * @param gatherBytes bytes of gathered blocks that a task READs or has waiting at most; 0 to gather
 *     none
 * @param loopback for tests: gathered blocks of this executor are READ as if they were remote
 */
public record ReadOptions(
    boolean verifyChecksums,
    long readTimeoutMs,
    long bufferWaitMs,
    int maxGroupBytes,
    long tableCacheBytes,
    boolean wireEncryption,
    long gatherBytes,
    boolean loopback) {}
