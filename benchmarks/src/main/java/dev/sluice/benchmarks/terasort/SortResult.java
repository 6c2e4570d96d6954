// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.SluiceTotals;

/**
 * Result of one sort in a driver process ({@link SortJob}), which sends it to the command in a file
 * of JSON.
 *
 * @param seconds time from the start of the job to the committed output
 * @param cpuSeconds CPU time of the executor processes meanwhile, user and system; 0 on a cluster,
 *     where they are not children of the driver
 * @param remoteBytes sum of Spark's remoteBytesRead over all tasks
 * @param totals Sluice's counters
 */
record SortResult(double seconds, double cpuSeconds, long remoteBytes, SluiceTotals totals) {}
