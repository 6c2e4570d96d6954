// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

/**
 * Blocks of a shuffle that a reduce task reads, as Spark passes them to a shuffle manager. {@link
 * RdmaShuffleManager} makes it for {@link RdmaShuffle#reader}. Compiled for Java 17.
 *
 * @param startMapIndex the first map output, by the index of its task
 * @param endMapIndex index after the last one; Integer.MAX_VALUE for all
 * @param startPartition the first partition of each map output
 * @param endPartition partition after the last one
 */
record BlockRange(int startMapIndex, int endMapIndex, int startPartition, int endPartition) {}
