// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** Broadcasts in memory; a handle is a number. */
final class FakeBroadcasts implements Broadcasts {
  private final Map<Integer, byte[]> live = new HashMap<>();
  private Runnable destroying = () -> {};
  private Runnable shipping = () -> {};
  private int shipped;
  private int fetched;
  private boolean failing;

  /** Sets an action that runs before each broadcast is destroyed from now on. */
  void whenDestroying(Runnable action) {
    destroying = action;
  }

  /** Sets an action that runs before each broadcast is shipped from now on, and may fail. */
  void whenShipping(Runnable action) {
    shipping = action;
  }

  /** Returns settings that ship on the caller's thread. */
  LocationDirectory.Shipping shipping() {
    return new LocationDirectory.Shipping(this, Runnable::run, 10_000);
  }

  @Override
  public Shipped ship(byte[] bytes) {
    int number = ++shipped;
    shipping.run();
    live.put(number, bytes);
    return new Shipped(
        ByteBuffer.allocate(Integer.BYTES).putInt(number).array(), () -> destroy(number));
  }

  private void destroy(int number) {
    destroying.run();
    live.remove(number);
  }

  @Override
  public byte[] fetch(byte[] handle) throws IOException {
    fetched++;
    if (failing) {
      throw new IOException("lost a piece of the broadcast");
    }
    return live.get(ByteBuffer.wrap(handle).getInt());
  }

  /** Makes all fetches fail from now on. */
  void fail() {
    failing = true;
  }

  int shipped() {
    return shipped;
  }

  int fetched() {
    return fetched;
  }

  int live() {
    return live.size();
  }
}
