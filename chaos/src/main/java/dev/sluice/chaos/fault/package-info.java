/**
 * Faults of the fault harness.
 *
 * <p>{@link Faults} lists them. A {@link Fault} has a {@link FaultAction} that causes and heals it,
 * a moment, the cost that is allowed, the {@link FaultAction.Evidence} that it struck, and the
 * setup of its cluster. The other classes are blows: {@link ExecutorFaults.InjectedFault} and
 * {@link AtEvent} act through injections in executors, {@link Setups} has the services of clusters,
 * the rest strikes processes, files, disks and devices from outside.
 */
package dev.sluice.chaos.fault;
