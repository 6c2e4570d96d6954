/** READs from peers: connections, buffers, deadlines and recovery, on one thread a process. */
package dev.sluice.rdma.transfer;
