/**
 * Sluice's parts on an executor.
 *
 * <p>{@link LazyRuntime} starts a {@link SluiceRuntime} for the first task, from the services that
 * {@link ExecutorEnvironment} takes from Spark. {@link ReadingRuntime} opens the device, registers,
 * publishes, serves and READs map outputs. {@link FallbackRuntime} leaves blocks to Spark's own
 * transfer and counts them.
 *
 * <p>After a map task commits, {@link NodeHandOver} offers its map output to the node daemon, and
 * {@link KeptOutputs} tells the driver of map outputs that stay.
 *
 * <p>All other work is in packages of its own, whose parts are opened, connected and closed here.
 */
package dev.sluice.spark.executor;
