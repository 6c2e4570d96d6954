// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static java.util.Objects.requireNonNull;

import java.util.function.Supplier;
import java.util.zip.Adler32;
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
  ADLER32(() -> new PiecewiseChecksum(new Adler32(), PiecewiseChecksum.COPIES)),
  CRC32(() -> ofAnyBuffer(new CRC32())),
  CRC32C(() -> ofAnyBuffer(new CRC32C()));

  /** Null for NONE. */
  private final @Nullable Supplier<Checksum> factory;

  ChecksumAlgorithm(@Nullable Supplier<Checksum> factory) {
    this.factory = factory;
  }

  private static Checksum ofAnyBuffer(Checksum checksum) {
    return PiecewiseChecksum.COPIES ? new PiecewiseChecksum(checksum, true) : checksum;
  }

  /** Returns a new computation, also of buffers in shared arenas; not for NONE. */
  public Checksum newChecksum() {
    return requireNonNull(factory).get();
  }
}
