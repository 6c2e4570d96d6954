// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A peer with a queue pair of one application tries keys and addresses of another application's
 * memory on the same device. No READ delivers any of it.
 */
public abstract class ScanContract extends RdmaProviderContract {
  private static final int BYTES = 64;
  private static final int GUESSES = 200;
  private static final byte CANARY = 0x5A;
  private static final byte SECRET = 0x11;

  private MemoryRegion target;
  private MemoryRegion own;

  private MemoryRegion secret;

  private void registerBoth() throws IOException {
    target = left.register(BYTES, TestNode.ALL);
    left.memory(target).fill(CANARY);
    ProtectionDomain other = right.device.allocateProtectionDomain();
    MemorySegment both = right.arena.allocate(2 * 4096, 4096);
    both.fill(SECRET);
    secret = other.register(both.asSlice(4096, 4096), TestNode.ALL);
    own = right.register(both.asSlice(0, 4096)); // right before the other application's
  }

  private void assertRefused(long address, int rkey) throws IOException {
    Pair pair = connectedPair();
    pair.left()
        .postSend(List.of(new SendWorkRequest(1, entry(target, 0, BYTES), address, rkey, true)));
    assertThat(statuses(left.await(1))).containsExactly(REM_ACCESS_ERR);
    pair.left().close();
    pair.right().close();
    assertThat(left.memory(target).toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
  }

  @Test
  void keysOfAnotherApplicationAreWorthNothing() throws Exception {
    registerBoth();
    assertRefused(secret.address(), secret.rkey());
    assertRefused(secret.address(), secret.lkey());
    assertRefused(secret.address(), own.rkey());
    assertRefused(own.address() + 4096 - BYTES / 2, own.rkey());
    assertRefused(secret.address() - BYTES, secret.rkey());
    assertRefused(0, secret.rkey());
  }

  @Test
  void guessedKeysAndAddressesFindNothing() throws Exception {
    registerBoth();
    Random random = new Random(7);
    for (int i = 0; i < GUESSES; i++) {
      int rkey = i % 2 == 0 ? secret.rkey() + random.nextInt(-50, 50) : random.nextInt();
      boolean near = random.nextBoolean();
      long address =
          near ? secret.address() + BYTES * random.nextLong(-100, 100) : random.nextLong();
      if (rkey != own.rkey()) {
        assertRefused(address, rkey);
      }
    }
  }

  @Test
  void addressesOutsideOfOwnMemoryFindNothing() throws Exception {
    registerBoth();
    Random random = new Random(8);
    for (int i = 0; i < GUESSES; i++) {
      long beyond = 1 + (random.nextLong() >>> random.nextInt(1, 63));
      long address = own.address() + (i % 2 == 0 ? 4096 - BYTES + beyond : -beyond);
      assertRefused(address, own.rkey());
    }
  }

  @Test
  void ownMemoryIsRead() throws Exception {
    registerBoth();
    connectedPair().left().postSend(List.of(read(1, target, own, BYTES)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
    assertThat(left.memory(target).toArray(ValueLayout.JAVA_BYTE)).containsOnly(SECRET);
  }
}
