/** TeraSort on Hadoop MapReduce: {@code bin/terasort --engine mapreduce}. */
package dev.sluice.benchmarks.mapreduce;
