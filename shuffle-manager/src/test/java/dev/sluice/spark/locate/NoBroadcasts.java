// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

/** For directories whose tables are small: a broadcast fails the test. */
public final class NoBroadcasts implements Broadcasts {
  @Override
  public Shipped ship(byte[] bytes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public byte[] fetch(byte[] handle) {
    throw new UnsupportedOperationException();
  }
}
