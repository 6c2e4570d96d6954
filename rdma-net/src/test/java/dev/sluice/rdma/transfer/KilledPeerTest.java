// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemotePeer;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * One endpoint READs from peer processes that are killed meanwhile, one after the other: {@code
 * sluice.races.kills} of them. Each READ is answered once, with the right bytes or none, and no
 * buffer is held in the end.
 */
class KilledPeerTest {
  private static final int KILLS = Integer.getInteger("sluice.races.kills", 5);
  private static final int REGION_BYTES = 4 << 20;
  private static final int READS = 64;
  private static final int READ_BYTES = 256 << 10;

  /** A peer is killed once one of its first READs, up to this number, is answered. */
  private static final int MOST_ANSWERED = READS / 4;

  private static final long DEADLINE_S = 20;

  private final Random random = new Random(7);
  private final ConcurrentHashMap<String, RemotePeer> peers = new ConcurrentHashMap<>();
  private int succeeded;
  private int failed;
  private int killedInRead;

  @Test
  void eachReadFromAKilledPeerIsAnsweredOnceAndNothingIsHeld() throws Exception {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (RdmaEndpoint endpoint =
        RdmaEndpoint.open(
            new SoftProvider(SoftOptions.DEFAULT).open(loopback),
            SoftPair.OPTIONS,
            this::connect)) {
      for (int kill = 0; kill < KILLS; kill++) {
        try (RemotePeer peer = RemotePeer.start(SoftProvider.NAME, loopback, REGION_BYTES)) {
          String id = "peer-" + kill;
          peers.put(id, peer);
          kill(endpoint, new PeerAddress(id, "localhost", 1), peer);
        }
      }
      assertThat(endpoint.buffers().bytesInUse()).isZero();
      Counters<TransferCounter> counters = endpoint.counters();
      assertThat(counters.get(TransferCounter.BUFFERS_GIVEN_UP)).isZero();
      assertThat(counters.get(TransferCounter.QUEUE_PAIRS_CLOSED))
          .isEqualTo(counters.get(TransferCounter.QUEUE_PAIRS_CREATED));
      assertThat(succeeded + failed).isEqualTo(KILLS * READS);
      System.out.printf("%d of %d peers were killed in mid-READ%n", killedInRead, KILLS);
      assertThat(killedInRead).isPositive();
    }
  }

  private CompletableFuture<QueuePairAddress> connect(
      PeerAddress peer, String provider, QueuePairAddress local) {
    try {
      return CompletableFuture.completedFuture(peers.get(peer.id()).connect(local));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void kill(RdmaEndpoint endpoint, PeerAddress address, RemotePeer peer) throws Exception {
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < READS; i++) {
      answers.add(read(endpoint, address, peer));
    }
    answers.get(random.nextInt(MOST_ANSWERED)).done.get(DEADLINE_S, TimeUnit.SECONDS);
    peer.kill();
    int failedBefore = failed;
    for (Answer answer : answers) {
      settle(answer);
    }
    killedInRead += failed > failedBefore ? 1 : 0;
    endpoint.peerLost(address.id());
    awaitClosed(endpoint.counters());
    peers.remove(address.id());
  }

  private static void awaitClosed(Counters<TransferCounter> counters) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
    while (counters.get(TransferCounter.QUEUE_PAIRS_CLOSED)
            < counters.get(TransferCounter.QUEUE_PAIRS_CREATED)
        && System.nanoTime() - deadline < 0) {
      Thread.sleep(1);
    }
  }

  private Answer read(RdmaEndpoint endpoint, PeerAddress address, RemotePeer peer)
      throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
    PooledBuffer buffer =
        endpoint.buffers().acquire(READ_BYTES, deadline).get(DEADLINE_S, TimeUnit.SECONDS);
    long offset = random.nextInt(REGION_BYTES - READ_BYTES);
    RemoteRegion range =
        new RemoteRegion(peer.region().address() + offset, READ_BYTES, peer.region().rkey());
    Answer answer = new Answer(buffer, offset);
    endpoint.read(new ReadRequest(address, List.of(range), buffer, 0, deadline, answer));
    return answer;
  }

  private void settle(Answer answer) throws Exception {
    try {
      answer.done.get(2 * DEADLINE_S, TimeUnit.SECONDS);
      for (int i = 0; i < READ_BYTES; i++) {
        byte got = answer.buffer.segment().get(ValueLayout.JAVA_BYTE, i);
        if (got != (byte) (answer.offset + i)) {
          throw new AssertionError("byte " + i + " is " + got);
        }
      }
      succeeded++;
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(ReadException.class);
      failed++;
    }
    assertThat(answer.answers).hasValue(1);
    answer.buffer.release();
  }

  private static final class Answer implements ReadListener {
    private final PooledBuffer buffer;
    private final long offset;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final AtomicInteger answers = new AtomicInteger();

    Answer(PooledBuffer buffer, long offset) {
      this.buffer = buffer;
      this.offset = offset;
    }

    @Override
    public void onSuccess() {
      answers.incrementAndGet();
      done.complete(null);
    }

    @Override
    public void onFailure(ReadException failure) {
      answers.incrementAndGet();
      done.completeExceptionally(failure);
    }
  }
}
