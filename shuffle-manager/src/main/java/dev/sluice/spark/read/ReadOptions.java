package dev.sluice.spark.read;

import dev.sluice.blocks.server.Stager;
import dev.sluice.rdma.Records;
import java.util.function.Consumer;

/**
 * What the configuration says about reading.
 *
 * @param verifyChecksums verify Spark's partition checksums after a READ
 * @param readTimeoutMs blocks that no READ brought by then go by Spark's own transfer; for blocks
 *     that are READ to disk, the time without any progress
 * @param bufferWaitMs how long a READ waits for a free buffer
 * @param maxGroupBytes small blocks are READ together into one buffer of at most so many bytes
 * @param gatherBytes bytes of gathered blocks that a task READs or has waiting at most; 0 to gather
 *     none
 * @param maxStagedBytes that a peer is asked to stage at a time
 */
public record ReadOptions(
    boolean verifyChecksums,
    long readTimeoutMs,
    long bufferWaitMs,
    int maxGroupBytes,
    long gatherBytes,
    int maxStagedBytes) {

  /** The configuration's defaults, for one task at a time in as little memory as Spark gives. */
  public static final ReadOptions DEFAULT = Records.of(ReadOptions.class, new Builder());

  /** These options but for what is changed, by name. */
  public ReadOptions with(Consumer<Builder> change) {
    return Records.with(ReadOptions.class, this, new Builder(), change);
  }

  /** The components, each by its name. */
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
