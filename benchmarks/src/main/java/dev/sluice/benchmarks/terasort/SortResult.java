package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.SluiceTotals;

/**
 * What one sort in a driver process of its own came to; travels to the command in a file.
 *
 * @param seconds from the start of the job to the committed output
 * @param cpuSeconds of the executors' processes meanwhile, user and system; 0 on a cluster, where
 *     they are not the driver's children
 * @param remoteBytes sum of Spark's own remoteBytesRead over all tasks
 * @param totals Sluice's own counters
 */
record SortResult(double seconds, double cpuSeconds, long remoteBytes, SluiceTotals totals) {}
