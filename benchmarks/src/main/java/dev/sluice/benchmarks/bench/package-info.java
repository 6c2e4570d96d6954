/**
 * The command bin/bench. {@link BenchCommand} has every benchmark as a subcommand. {@link
 * AllCommand} runs all {@link AllCommand.Part}s one after the other and resumes after a stop.
 * {@link ReportCommand} writes the tables and the plot of docs/figures/performance-tables.md.
 */
package dev.sluice.benchmarks.bench;
