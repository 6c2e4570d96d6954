/**
 * Clusters of Hadoop for MapReduce jobs. {@link HadoopCluster} starts and ends the processes.
 * {@link HadoopSettings} has the settings of processes and jobs, {@link HadoopFiles} the files that
 * they need, and {@link HadoopLogs} reads the logs.
 */
package dev.sluice.testkit.hadoop;
