/**
 * The command {@code bin/bench node}: what the block server of a node does when executors come and
 * go, beside Spark's external shuffle service.
 */
package dev.sluice.benchmarks.node;
