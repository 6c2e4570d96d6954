/**
 * Small standalone Spark clusters on this machine, for tests and benchmarks: Spark's own Master,
 * Worker and SparkSubmit classes as processes, without a distribution.
 */
package dev.sluice.spark.cluster;
