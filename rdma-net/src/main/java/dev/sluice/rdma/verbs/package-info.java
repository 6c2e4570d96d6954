/**
 * The provider of RDMA devices, on the binding of {@code dev.sluice.verbs}.
 *
 * <p>{@link dev.sluice.rdma.verbs.VerbsProvider} is the entry. It opens the allowed devices ({@link
 * dev.sluice.rdma.verbs.OpenPorts}), reads their ports ({@link dev.sluice.rdma.verbs.PortReader};
 * {@link dev.sluice.rdma.verbs.Sysfs} where verbs do not tell), and chooses a port and a GID
 * ({@link dev.sluice.rdma.verbs.PortChooser}, {@link dev.sluice.rdma.verbs.GidChooser}). {@link
 * dev.sluice.rdma.verbs.VerbsSurvey} explains that choice to the doctor.
 *
 * <p>The result is a {@link dev.sluice.rdma.verbs.VerbsDevice}, which creates protection domains,
 * memory regions, queue pairs and completion queues. A queue pair connects by its {@link
 * dev.sluice.rdma.verbs.VerbsQueuePair.Handshake}: with addresses from the control channel, or by
 * rdma_cm ({@link dev.sluice.rdma.verbs.CmAgent}). It then posts READs by {@link
 * dev.sluice.rdma.verbs.PostedSends}. {@link dev.sluice.rdma.verbs.AsyncEvents} reports failures,
 * and keeps {@link dev.sluice.rdma.verbs.CurrentPort} up to date.
 *
 * <p>Retries, deadlines and buffers are left to {@code dev.sluice.rdma.transfer}.
 */
package dev.sluice.rdma.verbs;
