/**
 * What the benchmarks share: results ({@link Comparison}, the row that each makes), and how Spark
 * is run for them ({@link DriverProcess} with {@link ClusterConf}).
 */
package dev.sluice.benchmarks;
