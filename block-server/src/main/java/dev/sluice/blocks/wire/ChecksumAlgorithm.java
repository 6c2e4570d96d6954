// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static java.util.Objects.requireNonNull;

import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * Algorithms of Spark's partition checksums (spark.shuffle.checksum.algorithm). The names are
 * Spark's. Peers read the ordinals in a {@link MapOutputHeader}, so new constants come last. The
 * process that finds a map output's files names its algorithm, and readers verify blocks by it. A
 * computation of {@link #newChecksum} is for one thread at a time.
 */
public enum ChecksumAlgorithm {
  NONE(null),
  ADLER32(PiecewiseAdler32::new),
  CRC32(CRC32::new),
  CRC32C(CRC32C::new);

  /** Null for NONE. */
  private final @Nullable Supplier<Checksum> factory;

  ChecksumAlgorithm(@Nullable Supplier<Checksum> factory) {
    this.factory = factory;
  }

  /** Returns a new computation; not for NONE. */
  public Checksum newChecksum() {
    return requireNonNull(factory).get();
  }
}
