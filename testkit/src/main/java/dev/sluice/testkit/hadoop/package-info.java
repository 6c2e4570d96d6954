/**
 * Clusters of Hadoop for applications on YARN. {@link HadoopCluster} starts and ends the processes.
 * {@link HadoopSettings} has the settings of processes and jobs, {@link HadoopFiles} the files that
 * they need, {@link HadoopUsers} what a cluster with several users needs, and {@link HadoopLogs}
 * reads the logs.
 */
package dev.sluice.testkit.hadoop;
