/**
 * The command bin/bench. {@link BenchCommand} has every part as a subcommand, and {@link
 * AllCommand} runs them one after the other, as {@link Part} lists them.
 */
package dev.sluice.benchmarks.bench;
