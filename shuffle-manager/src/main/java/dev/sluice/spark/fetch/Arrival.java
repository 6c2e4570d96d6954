// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

/**
 * Event for a task that waits for blocks. {@link RemoteBatches#poll} returns events in the order in
 * which they happen.
 */
public sealed interface Arrival permits FetchedBatch, SparkBlocks {}
