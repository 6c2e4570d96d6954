// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * Records answers. A second answer to a block is an error. Like Spark's listener, it may keep
 * buffers.
 */
final class RecordingListener implements BlockFetchingListener {
  private final Map<String, byte[]> successes = new HashMap<>();
  private final Map<String, Throwable> failures = new HashMap<>();
  private final List<ManagedBuffer> kept = new ArrayList<>();
  private final List<String> repeated = new ArrayList<>();
  private boolean keeps;
  private Predicate<String> throwsOn = blockId -> false;

  /** Retains buffers that come, until {@link #releaseKept}. */
  RecordingListener keep() {
    keeps = true;
    return this;
  }

  void throwOn(Predicate<String> newThrowsOn) {
    throwsOn = newThrowsOn;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    try {
      byte[] bytes = data.createInputStream().readAllBytes();
      if (successes.put(blockId, bytes) != null || failures.containsKey(blockId)) {
        repeated.add(blockId);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    if (throwsOn.test(blockId)) {
      throw new IllegalStateException("listener of " + blockId);
    }
    if (keeps) {
      kept.add(data.retain());
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    if (failures.put(blockId, failure) != null || successes.containsKey(blockId)) {
      repeated.add(blockId);
    }
  }

  Map<String, byte[]> successes() {
    return successes;
  }

  Map<String, Throwable> failures() {
    return failures;
  }

  /** Returns the blocks that were answered more than once. */
  List<String> repeated() {
    return repeated;
  }

  List<ManagedBuffer> kept() {
    return kept;
  }

  void releaseKept() {
    kept.forEach(ManagedBuffer::release);
    kept.clear();
  }
}
