/**
 * The command {@code bin/bench node}: compares the node daemon with Spark's external shuffle
 * service when executors come and go.
 *
 * <p>{@link NodeCommand} runs the parts. {@link LostExecutors} and {@link StoppedServers} start a
 * {@link NodeCluster} for each shuffle and a {@link NodeDriver} on it, whose {@link NodeJob} reads
 * a shuffle while processes are killed or stopped. {@link HandOvers} and {@link NodeLevels} measure
 * the daemon itself. Most applications of {@link NodeLevels} run without Spark, which would take
 * too long to start ({@link NodeLevels.SimulatedApplications}).
 */
package dev.sluice.benchmarks.node;
