/** MapReduce jobs on a ResourceManager and NodeManagers that are processes. */
package dev.sluice.cluster.mapreduce;
