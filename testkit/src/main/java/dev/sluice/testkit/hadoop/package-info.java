/**
 * Clusters of Hadoop for MapReduce jobs. {@link HadoopCluster} starts and ends the processes.
 * {@link HadoopSettings} has the settings of processes and jobs, and {@link HadoopFiles} the files
 * that they need.
 */
package dev.sluice.testkit.hadoop;
