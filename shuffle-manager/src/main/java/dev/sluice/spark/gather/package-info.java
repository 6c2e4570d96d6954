/**
 * The reduce task's side of batch fetches: chunks of blocks, and streams over them.
 *
 * <p>{@link GatherPlan} splits the blocks of a reduce task into {@link BlockGroup}s for batch
 * fetches and the rest. {@link GatheredBlocks} starts both and returns their streams. It takes
 * {@link Chunk}s of other executors from {@link RemoteChunks}, and those of its own executor from
 * {@link LocalChunks}. Spark's own iterators fetch the rest and all members that a group leaves;
 * each is a {@link SparkBlocks}. {@link ChunkStreams} makes a {@link GatheredInputStream} of a
 * chunk's members for the deserialiser.
 *
 * <p>Nothing is READ here: {@code dev.sluice.spark.read} implements {@code RemoteChunks}.
 */
package dev.sluice.spark.gather;
