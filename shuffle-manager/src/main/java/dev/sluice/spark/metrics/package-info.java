/**
 * Counters, and their way to the driver and its log.
 *
 * <p>{@link ShuffleCounters} counts blocks and bytes by path. {@link ExecutorMetrics} adds the
 * counters of the registry and the transfer engine, and {@link CountersReporter} sends all of them
 * to the driver. There {@link ApplicationTotals} sums them, and {@link ApplicationSummary} logs the
 * sums at the application's end. {@link MetricsSource} shows both to Spark's metrics system, with
 * the latencies of READs ({@link LatencyMetrics}).
 *
 * <p>For the tab in Spark's UI, {@link CountersReporter} reports the times of READs ({@link
 * ReadTimesReporter}) and the {@link FallbacksByPeer}. {@link ExecutorStates} keeps each executor's
 * state on the driver, and {@link UpdateRecords} turns counters into the tab's records. {@link
 * PeerName} names peers.
 */
package dev.sluice.spark.metrics;
