// SPDX-License-Identifier: Apache-2.0
/**
 * READs map outputs of Hadoop MapReduce for one reduce task. The plug-in of the task loads it from
 * the installation of the node daemon, in a class loader of its own, and so it uses no class of
 * Hadoop.
 *
 * <p>A {@link dev.sluice.mapreduce.reader.JobReader} has one endpoint and one client of block
 * servers. Each host's {@link dev.sluice.mapreduce.reader.JobNode} finds the job's block server
 * there and locates map outputs. A {@link dev.sluice.mapreduce.reader.BatchStream} READs them.
 */
package dev.sluice.mapreduce.reader;
