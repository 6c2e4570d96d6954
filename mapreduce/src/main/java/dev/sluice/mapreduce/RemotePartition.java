// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import org.jspecify.annotations.Nullable;

/**
 * One partition of a map output at a node, or the reason for which it cannot be READ. Immutable.
 */
public class RemotePartition {
  private final long mapId;
  private final long bytes;
  private final long rawBytes;
  private final @Nullable HttpReason failure;

  /**
   * @param bytes bytes in the map output's file, with those of encryption
   * @param rawBytes bytes without compression, with those of encryption
   */
  protected RemotePartition(long mapId, long bytes, long rawBytes) {
    this.mapId = mapId;
    this.bytes = bytes;
    this.rawBytes = rawBytes;
    this.failure = null;
  }

  /** A partition that cannot be READ. */
  public RemotePartition(long mapId, HttpReason failure) {
    this.mapId = mapId;
    this.bytes = 0;
    this.rawBytes = 0;
    this.failure = failure;
  }

  public final long mapId() {
    return mapId;
  }

  public final long bytes() {
    return bytes;
  }

  public final long rawBytes() {
    return rawBytes;
  }

  /** Returns null if the partition can be READ. */
  public final @Nullable HttpReason failure() {
    return failure;
  }

  @Override
  public String toString() {
    return "map output " + mapId + (failure == null ? " of " + bytes + " bytes" : ": " + failure);
  }
}
