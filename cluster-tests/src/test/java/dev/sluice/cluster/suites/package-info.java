/**
 * Hadoop's own tests of MapReduce, unchanged, with Sluice's shuffle plug-in. {@code TestFetcher},
 * {@code TestMergeManager} and {@code TestShuffleScheduler} of hadoop-mapreduce-client-core
 * construct Hadoop's own classes, which the plug-in uses as they are, so they cannot run against
 * classes of Sluice.
 */
package dev.sluice.cluster.suites;
