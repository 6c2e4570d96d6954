/**
 * Jobs that faults strike. {@link Workload} lists them; they are in {@link RddJobs}, {@link
 * SqlJobs} and {@link CancelledJobs}. {@link Records} generates their input and {@link Answers}
 * sums up their results, so that two shuffles can be compared by {@link dev.sluice.testkit.Sums}.
 */
package dev.sluice.chaos.workload;
