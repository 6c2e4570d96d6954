/**
 * Entry classes of Sluice in Spark: the shuffle manager, and its parts on the driver and on each
 * executor.
 *
 * <p>Spark creates {@link RdmaShuffleManager}, which delegates to an {@link RdmaShuffle}. Its
 * implementation is {@link SluiceShuffle}, or {@link StockShuffle} and {@link
 * RdmaShuffle.RefusedShuffle} where RDMA cannot be used. On the driver, {@link DriverRuntime} opens
 * the location directory and watches node daemons by {@link NodeLifetimes}. On an executor, {@link
 * LazyRuntime} starts a {@link SluiceRuntime} for the first task: {@link ReadingRuntime}, which
 * registers, publishes, serves and READs map outputs, or {@link FallbackRuntime}, which only
 * counts.
 *
 * <p>After a map task commits, {@link NodeHandOver} offers its map output to the node daemon, and
 * {@link KeptOutputs} tells the driver of map outputs that stay. {@link NodeConfiguration} changes
 * Spark's configuration for nodes that serve map outputs.
 *
 * <p>This package only connects parts. It moves no block and parses no setting; its subpackages do.
 */
package dev.sluice.spark;
