/**
 * Binding of librdmacm, which connects by IP address: one class per object of {@code rdma_cma.h},
 * named after its C structure. Semantics are those of rdma-core's manual pages.
 *
 * <p>A {@link dev.sluice.verbs.cm.RdmaEventChannel} owns the {@link dev.sluice.verbs.cm.RdmaCmId}s
 * that announce their events on it, and an id owns its queue pair. A call starts an operation, and
 * a {@link dev.sluice.verbs.cm.RdmaCmEvent} of the channel reports the result:
 *
 * <ol>
 *   <li>A client calls {@link dev.sluice.verbs.cm.RdmaCmId#resolveAddr} and, after the event,
 *       {@link dev.sluice.verbs.cm.RdmaCmId#resolveRoute}.
 *   <li>A server calls {@link dev.sluice.verbs.cm.RdmaCmId#bind} and {@link
 *       dev.sluice.verbs.cm.RdmaCmId#listen}. Each CONNECT_REQUEST event brings a new id.
 *   <li>Both sides create their queue pairs with {@link dev.sluice.verbs.cm.RdmaCmId#createQp} in a
 *       domain of the id's {@link dev.sluice.verbs.cm.RdmaCmId#context}.
 *   <li>The client calls {@link dev.sluice.verbs.cm.RdmaCmId#connect}. The server calls {@link
 *       dev.sluice.verbs.cm.RdmaCmId#accept} or {@link dev.sluice.verbs.cm.RdmaCmId#reject}.
 *       Private data and limits go into an {@link dev.sluice.verbs.cm.RdmaConnParam}. The event
 *       ESTABLISHED tells both sides that the queue pairs work.
 *   <li>{@link dev.sluice.verbs.cm.RdmaCmId#disconnect} ends the connection; closing the id
 *       destroys the queue pair.
 * </ol>
 *
 * <p>A program without an event loop resolves names with {@link dev.sluice.verbs.cm.RdmaAddrInfo},
 * creates a synchronous id with {@link dev.sluice.verbs.cm.RdmaCmId#createEp}, and posts with
 * {@link dev.sluice.verbs.cm.RdmaVerbs}. An id for datagrams joins multicast groups with {@link
 * dev.sluice.verbs.cm.RdmaCmId#joinMulticast(java.net.InetSocketAddress)}.
 *
 * <p>Closing an event acknowledges it; closing an id acknowledges its remaining events. Each
 * failure is a {@link dev.sluice.verbs.VerbsException} with operation, arguments and error number.
 */
package dev.sluice.verbs.cm;
