/**
 * Examples for users of Spark.
 *
 * <p>{@link dev.sluice.spark.examples.OwnShuffleManager} is a shuffle manager of another project:
 * it is built on {@link dev.sluice.spark.RdmaShuffle}, and its {@code OwnReader} has blocks READ
 * without Spark's iterator.
 */
package dev.sluice.spark.examples;
