/**
 * The jobs that faults strike: {@link Workload} lists them, and {@link Answer} is what their
 * results are compared by.
 */
package dev.sluice.benchmarks.chaos.workload;
