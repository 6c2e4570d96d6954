/**
 * The provider seam: the part of RDMA that Sluice needs, which is READ, in the terms of the verbs
 * manual pages.
 *
 * <p>A {@link Provider} opens a {@link Device}, which owns protection domains, completion channels
 * and completion queues. A {@link ProtectionDomain} owns memory regions and queue pairs. To serve
 * data, a process registers a {@link MemoryRegion} and sends its {@link RemoteRegion} to peers. To
 * READ, a process connects a {@link QueuePair}, posts {@link SendWorkRequest}s and polls a {@link
 * CompletionQueue}. Nothing here pools, retries or falls back.
 *
 * <p>A parent closes its children in reverse order of their creation, and every {@code close} is
 * idempotent. Any thread may use every object, but one thread at a time polls a completion queue.
 * The implementations ({@code verbs}, {@code soft}) do not know each other, and one contract suite
 * runs against both.
 */
package dev.sluice.rdma;
