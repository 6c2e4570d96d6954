// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Soft-RoCE's deviations from verbs, on which a program may work that fails on an adapter, and the
 * network devices that it accepts. A table of docs/verbs.md lists the same.
 */
@NeedsRdmaDevice
class SoftRoceTest extends IbvTestCase {
  private static final int SEED = 40;
  private static final int READ_BYTES = 1024;

  @BeforeEach
  void needsSoftRoce() {
    assumeThat(isRxe()).as("the device is soft-RoCE").isTrue();
  }

  /** Returns READs of the same bytes of the server, each to the next place in client memory. */
  private static IbvSendWrList reads(Pair pair, int count) {
    IbvSendWrList requests = pair.client().requests();
    for (int i = 0; i < count; i++) {
      long local = pair.client().address((long) i * READ_BYTES % MEMORY_BYTES);
      requests
          .add(i, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
          .sge(local, READ_BYTES, pair.client().mr.lkey())
          .rdma(pair.server().mr.address(), pair.server().mr.rkey());
    }
    return requests;
  }

  /** On other devices a slot is free only after its completion was polled. */
  @Test
  void slotsOfASendQueueAreFreeBeforeTheirCompletionsArePolled() throws Exception {
    Player client = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, context.createCq(1024), CAP));
    Pair pair = connected(client, player(IbvQp.Type.RC));
    int slots = client.qp.cap().maxSendWr();
    int requests = 3 * slots;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    for (int posted = 0; posted < requests; ) {
      try {
        client.qp.postSend(reads(pair, 1));
        posted++;
      } catch (PostException e) {
        assertThat(e.errno()).isEqualTo(VerbsException.ENOMEM);
        assertThat(System.nanoTime()).as("deadline, after %s", posted).isLessThan(deadline);
        Thread.yield();
      }
    }
    for (int polled = 0; polled < requests; polled += slots) {
      assertThat(client.await(slots))
          .extracting(Completion::status)
          .containsOnly(IbvWcArray.Status.SUCCESS);
    }
  }

  @Test
  void moreReadsAtATimeAreServedThanTheResponderSays() throws Exception {
    Player client = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, context.createCq(1024), CAP));
    Pair pair = new Pair(client, player(IbvQp.Type.RC).fill(SEED));
    new Connection(gid).destRdAtomic(1).connect(pair.server().qp, client.qp);
    new Connection(gid).rts(attr -> attr.maxRdAtomic(16)).connect(client.qp, pair.server().qp);
    int reads = client.qp.cap().maxSendWr();
    client.qp.postSend(reads(pair, reads));
    assertThat(client.await(reads))
        .extracting(Completion::status)
        .containsOnly(IbvWcArray.Status.SUCCESS);
    client.assertHolds(SEED, READ_BYTES);
  }

  @Test
  void aResponderThatServesNoReadsRefusesThem() throws Exception {
    Pair pair = new Pair(player(IbvQp.Type.RC), player(IbvQp.Type.RC));
    new Connection(gid).destRdAtomic(0).connect(pair.server().qp, pair.client().qp);
    new Connection(gid).connect(pair.client().qp, pair.server().qp);
    assertThat(pair.client().complete(reads(pair, 1)).status())
        .isEqualTo(IbvWcArray.Status.REM_INV_REQ_ERR);
  }

  @Test
  void aDeviceIsMadeFromANetworkDeviceWithoutAnAdapter() throws Exception {
    try (SoftDevice device = new SoftDevice("dummy")) {
      use(device.open());
      Pair pair = pair(IbvQp.Type.RC);
      pair.server().fill(SEED);
      pair.client().succeed(reads(pair, 1));
      pair.client().assertHolds(SEED, READ_BYTES);
      context.close();
      context = null;
    }
  }
}
