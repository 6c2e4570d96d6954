/** bin/bench read: READs between two processes on an RDMA device, by bin/verbs and by perftest. */
package dev.sluice.benchmarks.read;
