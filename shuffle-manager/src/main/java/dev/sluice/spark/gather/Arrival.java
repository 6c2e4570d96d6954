package dev.sluice.spark.gather;

/** What a task that waits for blocks may be given, in the order in which it happens. */
public sealed interface Arrival permits Chunk, SparkBlocks {}
