/**
 * Classes that run inside executors and inject faults.
 *
 * <p>{@link ChaosShuffleManager} is the entry point. It starts Sluice with backends of its own,
 * which wrap the device ({@link ChaosDevice}, its queue pairs and completion queues) and the
 * channel to the driver, and put a {@link ControlProxy} before the block server. The driver writes
 * an {@link ChaosAgent.Order}; {@link ChaosAgent} reads it, decides when an {@link Injection} acts,
 * and answers with a {@link ChaosAgent.Status}. {@link ReadAudit} checks that no two READs write to
 * the same memory.
 */
package dev.sluice.chaos.inject;
