/**
 * The command {@code bin/bench report}: writes the tables of docs/figures/performance-tables.md.
 * {@link ReportCommand} adds rows to a {@link ReportCommand.PerformanceDocument}, whose generated
 * tables are then written anew; {@link dev.sluice.benchmarks.Goal} lists the goals.
 */
package dev.sluice.benchmarks.report;
