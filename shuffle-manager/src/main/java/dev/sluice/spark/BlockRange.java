package dev.sluice.spark;

/**
 * What a reduce task reads of a shuffle, as Spark says it to a shuffle manager. Compiled for Java
 * 17.
 *
 * @param startMapIndex the first map output, by the index of its task
 * @param endMapIndex the one after the last; Integer.MAX_VALUE for all
 * @param startPartition the first partition of each
 * @param endPartition the one after the last
 */
record BlockRange(int startMapIndex, int endMapIndex, int startPartition, int endPartition) {}
