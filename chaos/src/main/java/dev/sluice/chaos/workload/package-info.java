/**
 * Jobs that faults strike. {@link Workload} lists them; they are in {@link RddJobs} and {@link
 * SqlJobs}. {@link Answers} sums up their results, so that two shuffles can be compared by {@link
 * dev.sluice.testkit.Sums}.
 */
package dev.sluice.chaos.workload;
