/**
 * The software provider: the semantics of a NIC's reliable connections over TCP, so that everything
 * above the seam runs, and is tested, on machines without one.
 *
 * <p>A connection begins with a {@link dev.sluice.rdma.soft.Hello}; all else on it are frames, a
 * {@link dev.sluice.rdma.soft.FrameHeader} and, of one type, a payload. Each side asks by READ
 * frames and answers those of the other in their order: each by DATA frames with the bytes, or by a
 * NAK, the last thing that it says.
 *
 * <p>A {@link dev.sluice.rdma.soft.SoftDevice} has a few threads, its {@link
 * dev.sluice.rdma.soft.EventLoops}, and one TCP connection per queue pair, which is one thread's. A
 * queue pair's {@link dev.sluice.rdma.soft.Initiator} sends requests, its {@link
 * dev.sluice.rdma.soft.Responder} answers those of the peer, and its {@link
 * dev.sluice.rdma.soft.Connection} moves their frames between the socket and registered memory, the
 * larger ones without copies. A {@link dev.sluice.rdma.soft.FaultPlan} makes requests fail on
 * purpose.
 *
 * <p>Locks: a queue pair's lock, then a completion queue's. A completion channel's is taken with
 * neither held. No two queue pairs' locks are ever held together.
 */
package dev.sluice.rdma.soft;
