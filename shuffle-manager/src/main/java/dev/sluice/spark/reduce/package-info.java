/**
 * Readers of reduce tasks. {@link RdmaShuffleReader} is the entry point, which the shuffle manager
 * makes from the {@link ExecutorFetching} of its executor. It combines batch fetches of {@code
 * dev.sluice.spark.fetch} with Spark's own iterators, put together around our block store client.
 * {@link ExecutorFetching.ShuffleSerializers} saves tasks the cost of a serializer each.
 */
package dev.sluice.spark.reduce;
