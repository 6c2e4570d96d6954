/**
 * The jobs that faults strike: {@link Workload} lists them, and {@link
 * dev.sluice.benchmarks.storm.Sums} are what their results are compared by.
 */
package dev.sluice.benchmarks.chaos.workload;
