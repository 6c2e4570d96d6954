/**
 * The command {@code bin/bench read}: READ, WRITE and SEND between two processes on an RDMA device.
 * {@link ReadCommand} measures each {@link MeasuringTool.Workload} by bin/verbs and by perftest, both as a {@link
 * MeasuringTool}.
 */
package dev.sluice.benchmarks.read;
