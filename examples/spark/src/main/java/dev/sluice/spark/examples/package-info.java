/**
 * Examples for users of Spark.
 *
 * <p>Begin with {@link dev.sluice.spark.examples.GroupByExample}, a job that prints how many bytes
 * went by READ.
 *
 * <p>{@link dev.sluice.spark.examples.ArrivalOrderShuffleManager} is a shuffle manager for authors
 * of shuffle managers: it is built on {@link dev.sluice.spark.RdmaShuffle}, and its {@code
 * ArrivalOrderReader} fetches blocks by READ without Spark's iterator.
 */
package dev.sluice.spark.examples;
