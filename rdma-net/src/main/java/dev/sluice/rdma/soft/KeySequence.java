// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Generates keys of memory regions that look random and do not repeat. They are a permutation of a
 * counter under a secret of the device, so no key has to be remembered. A {@link SoftDevice} has
 * one and asks it for each region. Any thread, without a lock.
 */
final class KeySequence {
  private static final int ROUNDS = 6;

  private final AtomicInteger counter;
  private final int[] secrets;

  KeySequence(SecureRandom random) {
    counter = new AtomicInteger(random.nextInt());
    secrets = random.ints(ROUNDS).toArray();
  }

  int next() {
    return permute(counter.getAndIncrement());
  }

  /**
   * A Feistel network over two halves of 16 bits, which is a permutation for any round function.
   */
  private int permute(int number) {
    int left = number >>> 16;
    int right = number & 0xFFFF;
    for (int secret : secrets) {
      int mixed = (right ^ secret) * 0x9E3779B1;
      mixed = (mixed ^ (mixed >>> 15) ^ secret) * 0x85EBCA6B;
      int next = left ^ (mixed >>> 16);
      left = right;
      right = next;
    }
    return left << 16 | right;
  }
}
