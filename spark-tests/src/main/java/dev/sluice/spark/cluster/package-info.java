/**
 * Small standalone Spark clusters on this machine, for tests and benchmarks.
 *
 * <p>{@link dev.sluice.spark.cluster.SparkHome} makes a SPARK_HOME out of jars, without a
 * distribution. {@link dev.sluice.spark.cluster.StandaloneCluster} starts Spark's own Master and
 * Worker classes on it, each as a {@link dev.sluice.spark.cluster.SparkProcess}, and runs a {@link
 * dev.sluice.spark.cluster.StandaloneCluster.Submission} with Spark's SparkSubmit class.
 */
package dev.sluice.spark.cluster;
