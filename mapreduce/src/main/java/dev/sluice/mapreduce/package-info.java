// SPDX-License-Identifier: Apache-2.0
/**
 * Shuffle plug-in of Hadoop MapReduce ({@code mapreduce.job.reduce.shuffle.consumer.plugin.class}).
 *
 * <p>{@link dev.sluice.mapreduce.RdmaShuffle} has Hadoop's own scheduler and merger. Its {@link
 * dev.sluice.mapreduce.RdmaFetcher}s READ map outputs from the nodes' block servers through a
 * {@link dev.sluice.mapreduce.NodeReader}, and leave the others to Hadoop's HTTP fetch. {@link
 * dev.sluice.mapreduce.InstalledReader} loads the reader from the installation of the node daemon,
 * so that a job ships nothing and Spark's transport meets no class of Hadoop. The package is
 * compiled for Java 8 and depends on Hadoop alone.
 */
package dev.sluice.mapreduce;
