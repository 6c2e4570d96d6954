/**
 * The way of a located block to its reader: READ, verify, deliver.
 *
 * <p>There are two entry points. Spark's iterator calls {@link RdmaBlockStoreClient}, which makes a
 * {@link FetchCall} for each request. A reduce task's reader opens a {@link BatchFetcher}, which
 * fetches small blocks in batches. Both share one {@link FetchContext} per executor.
 *
 * <p>A {@code FetchCall} makes a {@link ReadAttempt} of blocks that are located together. It READs
 * small blocks as {@link ClientBatchRead}s and large ones by {@link LargeBlockRead}. A {@code BatchFetcher}
 * READs {@link TaskBatchRead}s. Each of them acquires a {@link BufferPermit}, and {@link DataRead}
 * stages and READs the bytes. {@link BlockVerifier} verifies them. Bytes that wait for a task may
 * leave the buffer pool ({@link EvictableBuffers}).
 *
 * <p>Blocks that cannot be READ go to {@link SparkTransfer}, which uses {@link NodeFetch} in a
 * cluster with node daemons. This package does not locate blocks: {@code dev.sluice.spark.locate}
 * and {@code dev.sluice.spark.table} do.
 */
package dev.sluice.spark.read;
