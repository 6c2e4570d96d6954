// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.MapOutputLocation;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records announcements in order. */
public final class RecordingListener implements MapOutputListener {
  public final List<String> events = new CopyOnWriteArrayList<>();

  @Override
  public void registered(int shuffleId, MapOutputLocation location) {
    String state = location.segment().isRegistered() ? "registered " : "staged ";
    events.add(state + shuffleId + "/" + location.mapId());
  }

  @Override
  public void withdrawn(int shuffleId) {
    events.add("withdrawn " + shuffleId);
  }
}
