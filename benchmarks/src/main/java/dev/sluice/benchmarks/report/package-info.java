/**
 * bin/bench report: the tables of docs/performance.md. Begin with {@link GeneratedParts}; {@link
 * dev.sluice.benchmarks.Goal} lists what is to be reached.
 */
package dev.sluice.benchmarks.report;
