/**
 * The provider seam: what Sluice needs of RDMA, which is READ, in the words of the verbs manual
 * pages.
 *
 * <p>A {@link dev.sluice.rdma.Provider} opens a {@link dev.sluice.rdma.Device}; the device owns
 * protection domains, completion channels and completion queues; a protection domain owns memory
 * regions and queue pairs. A parent closes its children in reverse order of their creation, and
 * every {@code close} is idempotent. The implementations ({@code verbs}, {@code soft}) do not know
 * each other, and one contract suite runs against all of them.
 *
 * <p>Threads: every object here may be used by any thread, but a {@link
 * dev.sluice.rdma.CompletionQueue} is polled by one thread at a time.
 */
package dev.sluice.rdma;
