/**
 * The software provider: the semantics of a NIC's reliable connections over TCP. Everything above
 * the interfaces of {@code dev.sluice.rdma} runs on it, and is tested on it, on machines without a
 * NIC.
 *
 * <p>{@link dev.sluice.rdma.soft.SoftProvider} is the entry; it opens a {@link
 * dev.sluice.rdma.soft.SoftDevice}. A device has a few threads, its {@link
 * dev.sluice.rdma.soft.EventLoop.EventLoops}, and one TCP connection per queue pair, which stays
 * with one thread. The {@link dev.sluice.rdma.soft.Initiator} of a {@link
 * dev.sluice.rdma.soft.SoftQueuePair} sends requests, and its {@link
 * dev.sluice.rdma.soft.Responder} answers those of the peer. Its {@link
 * dev.sluice.rdma.soft.SoftConnection} moves their frames between the socket and registered memory,
 * large ones without copies. {@link dev.sluice.rdma.soft.DiskReaders} read the bytes of registered
 * files that the page cache lacks. A {@link dev.sluice.rdma.soft.FaultPlan} makes requests fail on
 * purpose.
 *
 * <p>A connection begins with a {@link dev.sluice.rdma.soft.Link.Hello}. Frames follow: a {@link
 * dev.sluice.rdma.soft.FrameHeader} and, for one type, a payload. Each side sends READ frames, and
 * answers those of the other side in order: with DATA frames, or with a NAK, which is the last
 * frame that it sends.
 *
 * <p>Lock order: the lock of a queue pair, then that of a completion queue. The lock of a
 * completion channel is taken with neither held. No two locks of queue pairs are held together.
 */
package dev.sluice.rdma.soft;
