/**
 * The command {@code bin/bench storm}: reduce stages over many small blocks, by Sluice and by
 * stock.
 *
 * <p>{@link StormCommand} runs a {@link StormCase} at a time by {@link StormRunner}. It starts
 * driver processes whose main class is {@link StormJob}; a {@link StormCase.Workload} prepares its
 * job from {@link RddStorm} or {@link SqlStorm}. {@link StormRounds} checks that the results are
 * valid, and makes rows of them.
 */
package dev.sluice.benchmarks.storm;
