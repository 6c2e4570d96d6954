/**
 * Binding of librdmacm, which connects by IP address: one class per object of {@code rdma_cma.h},
 * named after its C structure. Semantics are those of rdma-core's manual pages.
 *
 * <p>A {@link RdmaEventChannel} owns the {@link RdmaCmId}s that announce their events on it, and an
 * id owns its queue pair. A call starts an operation, and a {@link RdmaCmEvent} of the channel
 * reports the result:
 *
 * <ol>
 *   <li>A client calls {@link RdmaCmId#resolveAddr} and, after the event, {@link
 *       RdmaCmId#resolveRoute}.
 *   <li>A server calls {@link RdmaCmId#bind} and {@link RdmaCmId#listen}. Each CONNECT_REQUEST
 *       event brings a new id.
 *   <li>Both sides create their queue pairs with {@link RdmaCmId#createQp} in a domain of the id's
 *       {@link RdmaCmId#context}.
 *   <li>The client calls {@link RdmaCmId#connect}. The server calls {@link RdmaCmId#accept} or
 *       {@link RdmaCmId#reject}. Private data and limits go into an {@link RdmaConnParam}. The
 *       event ESTABLISHED tells both sides that the queue pairs work.
 *   <li>{@link RdmaCmId#disconnect} ends the connection; closing the id destroys the queue pair.
 * </ol>
 *
 * <p>A program without an event loop resolves names with {@link RdmaAddrInfo}, creates a
 * synchronous id with {@link RdmaCmId#createEp}, and posts with {@link RdmaVerbs}. An id for
 * datagrams joins multicast groups with {@link RdmaCmId#joinMulticast(java.net.InetSocketAddress)}.
 *
 * <p>Closing an event acknowledges it; closing an id acknowledges its remaining events. Each
 * failure is a {@link dev.sluice.verbs.VerbsException} with operation, arguments and error number.
 */
package dev.sluice.verbs.cm;
