// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static dev.sluice.rdma.transfer.CounterDescription.total;

import dev.sluice.rdma.transfer.CounterDescription;
import java.util.Locale;

/**
 * Counters of shuffle blocks and bytes by path, without those of Spark's own transport. {@link
 * ShuffleCounters} has their values. Metrics are named after the constants, so users see a new
 * name.
 */
public enum ShuffleCounter {
  READ_BLOCKS(total("blocks", "Blocks that arrived by READ.")),
  READ_BYTES(total("bytes", "Bytes that arrived by READ.")),
  STAGED_BYTES(total("bytes", "Bytes of `read.bytes` that were READ from staging memory.")),
  STAGED_WAITS(
      total(
          "buffers",
          "Buffers that waited until their peer, or all peers, had less to stage for this"
              + " executor.")),
  STAGED_LATE(total("times", "Times that bytes were READ after their lease, and requested again.")),
  LOCAL_BLOCKS(
      total("blocks", "Blocks that came from disk or memory of the same executor or host.")),
  LOCAL_BYTES(total("bytes", "Bytes that came from disk or memory of the same executor or host.")),
  GATHERED_BLOCKS(
      total(
          "blocks",
          "Blocks, READ or local, that came together with others; `read.blocks` and"
              + " `local.blocks` include them.")),
  HEDGE_BATCHES(
      total(
          "batches",
          "READs of batches and tables that were late, so that Spark's transfer fetched the blocks"
              + " too; and probes.")),
  HEDGE_BYTES(total("bytes", "Bytes of their buffers.")),
  CORRUPTIONS(total("blocks", "Blocks whose bytes did not match Spark's checksum after a READ.")),
  NODE_TAKEN(
      total("map outputs", "Map outputs that the node daemon has taken, or that are empty.")),
  NODE_REFUSED(total("map outputs", "Map outputs that the node daemon has not taken."));

  private final CounterDescription description;

  ShuffleCounter(CounterDescription description) {
    this.description = description;
  }

  /** Name in reports, logs and Spark's metrics, such as {@code read.blocks}. */
  String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  CounterDescription description() {
    return description;
  }
}
