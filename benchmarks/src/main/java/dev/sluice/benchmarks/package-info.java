/**
 * Results that all benchmarks share.
 *
 * <p>Each benchmark measures Sluice and a partner in turn and makes rows of it, one {@link
 * Comparison} for each quantity. {@link Comparison.Pairs} collects the rounds, {@link Goal} and
 * {@link Goal.Verdict} judge the ratio, and {@link Benchmark} prints the rows and writes them to a
 * {@link ResultFile} together with the machine's load ({@link BenchmarkRun}).
 *
 * <p>Benchmarks on Spark start a {@link DriverProcess} with a {@link ClusterConf} for each {@link
 * Shuffle}. {@link Executors}, {@link Stages} and {@link SluiceTotals} run in that driver and
 * measure it. The benchmarks themselves and their commands are in packages of their own; processes
 * are in {@code dev.sluice.testkit}.
 */
package dev.sluice.benchmarks;

import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Stages;
