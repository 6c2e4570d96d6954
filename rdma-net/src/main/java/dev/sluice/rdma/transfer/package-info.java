/**
 * READs from peers, and the queue pairs through which peers READ from this process.
 *
 * <p>{@link RdmaEndpoint} is the entry point; an executor has one, a node daemon one for each
 * application. A caller takes a {@link PooledBuffer} from its {@link BufferPool}, submits a {@link
 * ReadRequest}, and gets one answer through a {@link ReadListener}. A {@link TaskQueue} brings
 * requests to the one {@link ReadThread}, which runs the {@link ReadEngine}. For each {@link Peer}
 * the engine opens a {@link Connection}, posts waiting reads in batches, polls completions and
 * enforces deadlines. {@link Recovery} handles failed work requests, and a {@link CircuitBreaker}
 * stops repeated tries of what has failed. {@link ReadLatencies} has how long READs took, by peer,
 * and {@link SlowPeers} names one that is slow.
 *
 * <p>Threads {@code sluice-connect} connect queue pairs: a {@link ConnectAttempt} exchanges
 * addresses through a {@link QueuePairConnector}, and {@link AcceptedQueuePairs} is the serving
 * side. The package knows no shuffle and does not fall back: a failed read ends with a {@link
 * ReadException}.
 */
package dev.sluice.rdma.transfer;
