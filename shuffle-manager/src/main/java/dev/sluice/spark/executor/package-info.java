/**
 * What an executor runs, in the order in which it starts.
 *
 * <p>{@link LazyRuntime} starts a {@link SluiceRuntime} for the first task, from the services that
 * {@link ExecutorEnvironment} takes from Spark. {@link ReadingRuntime} opens the device, registers,
 * publishes, serves and READs map outputs. {@link FallbackRuntime} only counts blocks that go by
 * Spark's own transfer.
 *
 * <p>After a map task commits, {@link NodeHandOver} offers its map output to the node daemon, and
 * {@link KeptOutputs} tells the driver of map outputs that stay.
 *
 * <p>This package only opens, connects and closes parts. They do their work in packages of their
 * own.
 */
package dev.sluice.spark.executor;
