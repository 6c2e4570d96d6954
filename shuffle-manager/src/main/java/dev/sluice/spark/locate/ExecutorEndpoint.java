package dev.sluice.spark.locate;

/**
 * Where an executor's block server listens, and how its memory can be READ.
 *
 * @param executorId Spark's executor id
 * @param host host name or address
 * @param port TCP port of the block server
 * @param provider provider of its device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(String executorId, String host, int port, String provider) {}
