// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.server.Stager;
import dev.sluice.verbs.Records;
import java.util.function.Consumer;

/**
 * Options of reading. {@code SluiceConf} makes them when an executor starts; immutable.
 *
 * @param verifyChecksums true to verify Spark's partition checksums after a READ
 * @param readTimeoutMs time after which blocks that were not READ fall back to Spark's own
 *     transport; for blocks that are READ to disk, the time without progress
 * @param bufferWaitMs time that a READ waits for a free buffer
 * @param maxGroupBytes largest buffer into which small blocks are READ together
 * @param gatherBytes limit of the bytes of batch fetches that a task READs or holds; 0 for no batch
 *     fetches
 * @param maxStagedBytes limit of one staging request
 */
public record ReadOptions(
    boolean verifyChecksums,
    long readTimeoutMs,
    long bufferWaitMs,
    int maxGroupBytes,
    long gatherBytes,
    int maxStagedBytes) {

  /** Defaults of the configuration, for one task at a time in the least memory that Spark gives. */
  public static final ReadOptions DEFAULT = Records.of(ReadOptions.class, new Builder());

  /** Returns a copy of these options with the named changes. */
  public ReadOptions with(Consumer<Builder> change) {
    return Records.with(ReadOptions.class, this, new Builder(), change);
  }

  /** The components by name. */
  public static final class Builder {
    public boolean verifyChecksums = true;
    public long readTimeoutMs = 30_000;
    public long bufferWaitMs = 2_000;
    public int maxGroupBytes = 1 << 20;
    public long gatherBytes = 24 << 20;
    public int maxStagedBytes = Stager.MAX_REQUEST_BYTES;

    private Builder() {}
  }
}
