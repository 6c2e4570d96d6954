/**
 * Hadoop MapReduce. {@link MapReduceSort} is TeraSort on a cluster, for {@code bin/terasort
 * --engine mapreduce}. {@link CopyCommand} is {@code bin/bench mapreduce}: it writes {@link
 * MapOutputs}, and processes of {@link CopyJob} copy them.
 */
package dev.sluice.benchmarks.mapreduce;
