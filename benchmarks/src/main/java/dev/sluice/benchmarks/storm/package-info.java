/**
 * bin/bench storm: shuffles of many small blocks. {@link StormJob} is the driver process that
 * {@link StormRunner} starts, {@link Workload} has the jobs, and {@link StormRounds} says whether
 * results are valid.
 */
package dev.sluice.benchmarks.storm;
