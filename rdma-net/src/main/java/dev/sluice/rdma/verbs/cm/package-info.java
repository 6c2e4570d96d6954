/**
 * Binding of librdmacm: connections by IP address, one class per object of {@code rdma_cma.h},
 * named after its C structure, with the meaning that the manual pages of rdma-core give; no policy
 * of ours.
 *
 * <p>A {@link dev.sluice.rdma.verbs.cm.RdmaEventChannel} owns the {@link
 * dev.sluice.rdma.verbs.cm.RdmaCmId}s that announce their events on it, and an id owns its queue
 * pair. Everything is asynchronous: calls start something, and events say how it went. Whatever
 * fails throws a {@link dev.sluice.rdma.VerbsException} with operation, arguments and error number.
 */
package dev.sluice.rdma.verbs.cm;
