/**
 * The way of a located block to its reader: READ, verify, deliver.
 *
 * <p><b>Two entry points.</b> Spark's iterator calls {@link RdmaBlockStoreClient}, which makes a
 * {@link FetchCall} for each request. A reduce task's reader pulls a {@link
 * RdmaBlockFetcherIterator}, which fetches small blocks in batches. Both share one {@link
 * FetchContext} per executor.
 *
 * <p><b>Batch fetch.</b> {@code RdmaBlockFetcherIterator} splits the blocks of a reduce task into
 * {@link ExecutorBlocks} for batch fetches and the rest. It starts both and returns their streams.
 * It takes {@link FetchedBatch}es of other executors from {@link RemoteBatches}, which {@link
 * BatchFetcher} implements, and those of its own executor from {@link LocalBatches}. A {@code
 * BatchFetcher} locates blocks and divides them into batches by {@link GroupFetch}, and requests
 * the batches in the order of its {@link FetchQueue}. Spark's own iterators fetch the rest and all
 * members that a group leaves; each is a {@link SparkBlocks}. {@link
 * DecodedBatchStream.BatchStreams} makes a {@link DecodedBatchStream} of a batch's members for the
 * deserialiser.
 *
 * <p><b>Reading.</b> A {@code FetchCall} makes a {@link ReadAttempt} of blocks that are located
 * together. It READs small blocks in batches. {@link LargeBlockRead} READs large ones in slices
 * into a {@link BlockSink}. A {@code BatchFetcher} READs {@link TaskBatchRead}s. Each batch and
 * slice has a {@link RangeFetch}, which acquires a permit of the {@link FetchBudget}, has bytes
 * staged, and READs them. {@link BlockVerifier} verifies them. Bytes that wait for a task may leave
 * the buffer pool ({@link EvictableBuffers}).
 *
 * <p><b>Fallback.</b> Blocks that cannot be READ go to {@link SparkTransfer}, which uses {@link
 * NodeFetch} in a cluster with node daemons. {@link LateReads} tells which batches are so late that
 * Spark's transfer should fetch them as well, and which peers are avoided ({@link LatePeers}) until
 * a {@link ProbeRead} is in time.
 *
 * <p>This package does not locate blocks: {@code dev.sluice.spark.locate} and {@code
 * dev.sluice.spark.table} do.
 */
package dev.sluice.spark.fetch;
