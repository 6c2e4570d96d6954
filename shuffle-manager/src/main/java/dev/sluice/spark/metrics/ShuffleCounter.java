// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static dev.sluice.rdma.transfer.CounterDescription.total;

import dev.sluice.rdma.transfer.CounterDescription;

/**
 * Counters of shuffle blocks and bytes by path, without those of Spark's own transport. {@link
 * ShuffleCounters} counts them. Their keys and texts are part of the documentation.
 */
enum ShuffleCounter {
  READ_BLOCKS("read.blocks", total("blocks", "Blocks that arrived by READ.")),
  READ_BYTES("read.bytes", total("bytes", "Bytes that arrived by READ.")),
  STAGED_BYTES(
      "staged.bytes", total("bytes", "Bytes of `read.bytes` that were READ from staging memory.")),
  STAGED_WAITS(
      "staged.waits",
      total(
          "buffers",
          "Buffers that waited until their peer, or all peers, had less to stage for this"
              + " executor.")),
  STAGED_LATE(
      "staged.late",
      total("times", "Times that bytes were READ after their lease, and requested again.")),
  LOCAL_BLOCKS(
      "local.blocks",
      total("blocks", "Blocks that came from disk or memory of the same executor or host.")),
  LOCAL_BYTES(
      "local.bytes",
      total("bytes", "Bytes that came from disk or memory of the same executor or host.")),
  GATHERED_BLOCKS(
      "gathered.blocks",
      total(
          "blocks",
          "Blocks, READ or local, that came together with others; `read.blocks` and"
              + " `local.blocks` include them.")),
  CORRUPTIONS(
      "corruptions",
      total("blocks", "Blocks whose bytes did not match Spark's checksum after a READ.")),
  NODE_TAKEN(
      "node.taken",
      total("map outputs", "Map outputs that the node daemon has taken, or that are empty.")),
  NODE_REFUSED(
      "node.refused", total("map outputs", "Map outputs that the node daemon has not taken."));

  private final String key;
  private final CounterDescription description;

  ShuffleCounter(String key, CounterDescription description) {
    this.key = key;
    this.description = description;
  }

  /** Name in reports, logs and Spark's metrics. */
  String key() {
    return key;
  }

  CounterDescription description() {
    return description;
  }
}
