/**
 * The reduce task's side of batch fetches: batches of blocks, and streams over them.
 *
 * <p>{@link FetchPlan} splits the blocks of a reduce task into {@link ExecutorBlocks}s for batch
 * fetches and the rest. {@link RdmaBlockFetcherIterator} starts both and returns their streams. It takes
 * {@link FetchedBatch}s of other executors from {@link RemoteBatches}, and those of its own executor from
 * {@link LocalBatches}. Spark's own iterators fetch the rest and all members that a group leaves;
 * each is a {@link SparkBlocks}. {@link BatchStreams} makes a {@link DecodedBatchStream} of a
 * batch's members for the deserialiser.
 *
 * <p>Nothing is READ here: {@code dev.sluice.spark.read} implements {@code RemoteBatches}.
 */
package dev.sluice.spark.gather;
