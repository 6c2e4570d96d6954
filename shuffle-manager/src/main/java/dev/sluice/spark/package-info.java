/**
 * Entry classes of Sluice in Spark.
 *
 * <p>Spark creates {@link RdmaShuffleManager}, which delegates to an {@link RdmaShuffle}. Its
 * implementation is {@link SluiceShuffle}, or {@link StockShuffle} and {@link
 * RdmaShuffle.RefusedShuffle} where RDMA cannot be used. These classes, except {@link
 * SluiceShuffle}, also load on Java 17. {@link NodeConfiguration} changes Spark's configuration for
 * nodes that serve map outputs.
 *
 * <p>{@link SluiceShuffle} opens the two sides: {@link dev.sluice.spark.driver} when the first
 * shuffle is registered, {@link dev.sluice.spark.executor} for the first task. A map task writes by
 * {@link dev.sluice.spark.write}. A reduce task reads by {@link dev.sluice.spark.reduce}, which
 * uses {@link dev.sluice.spark.locate} to find map outputs and {@link dev.sluice.spark.fetch} to
 * READ their blocks.
 *
 * <p>This package only connects parts. It moves no block and parses no setting.
 */
package dev.sluice.spark;
