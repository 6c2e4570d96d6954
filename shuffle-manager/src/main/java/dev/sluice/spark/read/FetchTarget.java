package dev.sluice.spark.read;

/** The executor that a fetch asks, as Spark's own transfer addresses it. */
record FetchTarget(String host, int port, String executorId) {}
