/**
 * Benchmarks of the binding, without Spark. {@link ReadLoopCommand} compares posting and polling
 * with the same loop in C ({@code read_loop.c}). {@link ReadCommand} compares bin/verbs with
 * perftest on an RDMA device, both as a {@link MeasuringTool}. {@link RowCommand} measures READs
 * between two machines by bin/verbs, and prints a {@link HardwareRow}.
 */
package dev.sluice.benchmarks.verbs;
