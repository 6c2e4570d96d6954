/**
 * The command {@code bin/bench node}: compares the node daemon with Spark's external shuffle
 * service. {@link NodeCommand} runs the parts. {@link StruckServers} starts a cluster for each
 * shuffle and a driver on it, whose {@link NodeJob} reads a shuffle while a server is restarted or
 * stopped. {@link NodeCommand.HandOvers} measures the daemon itself.
 */
package dev.sluice.benchmarks.node;
