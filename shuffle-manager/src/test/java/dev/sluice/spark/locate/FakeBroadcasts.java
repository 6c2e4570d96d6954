package dev.sluice.spark.locate;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** Broadcasts in memory; a handle is a number. */
final class FakeBroadcasts implements Broadcasts {
  private final Map<Integer, byte[]> live = new HashMap<>();
  private int shipped;
  private int fetched;

  @Override
  public Shipped ship(byte[] bytes) {
    int number = ++shipped;
    live.put(number, bytes);
    return new Shipped(
        ByteBuffer.allocate(Integer.BYTES).putInt(number).array(), () -> live.remove(number));
  }

  @Override
  public byte[] fetch(byte[] handle) {
    fetched++;
    return live.get(ByteBuffer.wrap(handle).getInt());
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
