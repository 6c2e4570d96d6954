// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.batch;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.table.TableReads;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fetches of blocks that have to be staged. */
class RangeFetchTest {
  private static final String ARRIVED = "arrived";

  private ReadFixture fixture = new ReadFixture();
  private final List<Object> answers = new ArrayList<>();
  private ReadBuffer buffer;
  private RuntimeException defect;
  private Span arrived;

  /** The sink's answer when a READ begins. */
  private boolean beginsRead = true;

  /** Number of times that the sink is asked if it waits, before it throws. */
  private int asked = Integer.MAX_VALUE;

  @AfterEach
  void oneAnswerAndNothingIsHeld() {
    assertThat(answers).hasSize(1);
    if (buffer != null) {
      buffer.release();
      buffer = null;
    }
    fixture.assertNothingIsHeld();
  }

  private void read(String... blockIds) {
    FetchContext path = fixture.client.path;
    RequestedBlocks blocks =
        new RequestedBlocks(Arrays.stream(blockIds).map(RequestedBlock::parse).toList());
    long deadlineNanos = path.deadlineNanos();
    LocatedBlocks located =
        path.locator().locate("7", blocks, false, deadlineNanos, TableReads.UNTIMED).join();
    int bytes = Arrays.stream(blockIds).mapToInt(id -> fixture.written(id).length).sum();
    Span all = new Span(located, 0, blocks.size(), bytes, true);
    Request request = new Request(new TaskReads(1), deadlineNanos);
    new RangeFetch(path, request, all, new Sink()).start();
  }

  private record Request(TaskReads task, long deadlineNanos) implements FetchBudget.Request {
    @Override
    public void extendDeadline() {}
  }

  private final class Sink implements RangeFetch.Sink {
    @Override
    public boolean awaits() {
      asked--;
      if (asked == 0) {
        throw new StackOverflowError("scripted");
      }
      return true;
    }

    @Override
    public boolean readBegins() {
      return beginsRead;
    }

    @Override
    public void dropped() {
      answer("dropped");
    }

    @Override
    public void arrived(Permit permit, Span there) {
      buffer = permit.take();
      arrived = there;
      answer(ARRIVED);
    }

    @Override
    public void failed(FallbackReason reason) {
      answer(reason);
    }

    private void answer(Object answer) {
      answers.add(answer);
      if (defect != null) {
        throw defect;
      }
    }
  }

  private void assertArrived(String... blockIds) {
    assertThat(answers).containsExactly(ARRIVED);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    Arrays.stream(blockIds).map(fixture::written).forEach(written::writeBytes);
    assertThat(buffer.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(written.toByteArray());
  }

  private void assertFailed(FallbackReason reason) {
    assertThat(answers).containsExactly(reason);
  }

  private List<RemoteRegion> ranges() {
    return fixture.transport.reads().getLast().ranges();
  }

  @Test
  void nothingIsReadIfTheSinkWantsItNoMoreWhenTheReadWouldBegin() {
    beginsRead = false;
    fixture.staged(10, 100);

    read(block(10, 0));

    assertThat(answers).containsExactly("dropped");
    assertThat(fixture.transport.reads()).isEmpty();
  }

  @Test
  void stagedBlocksAreAskedForAtOnceAndReadAsOneRange() {
    fixture.staged(10, 100, 200, 300);
    fixture.staged(11, 40, 50);

    read(block(10, 0), block(10, 2), block(11, 1));

    assertArrived(block(10, 0), block(10, 2), block(11, 1));
    Stage asked =
        new Stage(
            ReadFixture.SHUFFLE,
            10_000,
            List.of(new Partitions(10, 0, 1), new Partitions(10, 2, 3), new Partitions(11, 1, 2)),
            0,
            450);
    assertThat(fixture.transport.stages()).containsExactly(asked);
    assertThat(ranges()).hasSize(1);
  }

  /** The transport's threads serve all peers. */
  @Test
  void aLargeAnswerIsEvaluatedByADeliveryThread() {
    Deque<Runnable> held = new ArrayDeque<>();
    AtomicBoolean holds = new AtomicBoolean();
    fixture = holding(held, holds);
    int[] lengths = new int[(1 << 14) + 1];
    Arrays.fill(lengths, 3);
    fixture.staged(10, lengths);
    fixture.stager.answers(
        answer -> {
          holds.set(true);
          return answer;
        });

    read(batch(10, 0, lengths.length));

    assertThat(held).as("the evaluation").hasSize(1);
    assertThat(fixture.transport.reads()).isEmpty();
    holds.set(false);
    held.remove().run();
    assertArrived(batch(10, 0, lengths.length));
  }

  private static ReadFixture holding(Deque<Runnable> held, AtomicBoolean holds) {
    return new ReadFixture(
        ReadFixture.OPTIONS,
        step -> {
          if (holds.get()) {
            held.add(step);
          } else {
            step.run();
          }
        });
  }

  @Test
  void anAnswerThatDoesNotFitTheRequestIsGivenBackUnread() {
    refuses(lease -> staged(lease, longer(lease.region(), 1), 0, 1_000));
  }

  @Test
  void aCopyThatEndsWithinABlockIsGivenBackUnread() {
    fixture.staged(11, 100);
    refuses(lease -> staged(lease, longer(lease.region(), -1), 0, 1_000), block(11, 0));
  }

  @Test
  void theRestOfASingleBlockIsAskedForAgain() {
    fixture.staged(10, 100);
    fixture.stager.answers(
        answer -> {
          Staged lease = (Staged) answer;
          return lease.region().length() < 100
              ? answer
              : staged(lease, longer(lease.region(), -1), 0, 1_000_000_000);
        });

    read(block(10, 0));

    assertArrived(block(10, 0));
    assertThat(arrived).isEqualTo(new Span(arrived.located(), 0, 1, 100, true));
    assertThat(fixture.transport.stages())
        .extracting(Stage::position, Stage::maxBytes)
        .containsExactly(tuple(0L, 100), tuple(99L, 1));
  }

  /** The sink is asked during each step of a permit, before and after each READ, and in between. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void anyErrorGivesBackBufferAndShare(int time) {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = 60));
    fixture.staged(10, 100);
    asked = time;

    read(block(10, 0));

    assertFailed(FallbackReason.TRANSPORT);
  }

  @Test
  void anAnswerFromTheFutureIsGivenBackUnread() {
    refuses(lease -> staged(lease, lease.region(), -1, 1_000));
  }

  @Test
  void anAnswerWithoutALeaseIsGivenBackUnread() {
    refuses(lease -> staged(lease, lease.region(), 0, 0));
  }

  private static Staged staged(Staged lease, RemoteRegion region, long tookNanos, long nanos) {
    return new Staged(1000, region, tookNanos, nanos, -1, lease.tables());
  }

  private static RemoteRegion longer(RemoteRegion region, int bytes) {
    return new RemoteRegion(region.address(), region.length() + bytes, region.rkey());
  }

  private void refuses(UnaryOperator<Staged> change, String... others) {
    fixture.staged(10, 100);
    fixture.stager.answers(answer -> change.apply((Staged) answer));

    read(Stream.concat(Stream.of(block(10, 0)), Stream.of(others)).toArray(String[]::new));

    assertFailed(FallbackReason.STAGING);
    assertThat(fixture.transport.reads()).isEmpty();
  }

  @Test
  void bytesThatNothingVerifiesAreNotRead() {
    fixture.staged(10, 100);
    fixture.unverifiable(11, 100);
    fixture.stager.answers(
        answer -> staged((Staged) answer, ((Staged) answer).region(), 0, 1_000_000_000));

    read(block(10, 0), block(11, 0));

    assertFailed(FallbackReason.STAGING);
  }

  @Test
  void aPeerThatStagesNothingIsNotAskedAgain() {
    fixture.staged(10, 100);
    fixture.stager.answers(_ -> new NotStaged(false, "no memory"));
    read(block(10, 0));
    assertFailed(FallbackReason.STAGING);
    assertThat(fixture.transport.stages()).hasSize(1);
  }

  @Test
  void aMapOutputThatIsNotThereIsStale() {
    fixture.staged(10, 100);
    fixture.stager.answers(_ -> new NotStaged(true, "no such map output"));
    read(block(10, 0));
    assertFailed(FallbackReason.STALE_LOCATION);
  }

  @Test
  void aPeerThatCannotBeAskedStagesNothing() {
    fixture.staged(10, 100);
    fixture.stager.answers(
        _ -> {
          throw new IllegalStateException("connection closed");
        });
    read(block(10, 0));
    assertFailed(FallbackReason.STAGING);
  }

  @Test
  void bytesBeyondTheLeaseAreAskedForAgain() {
    fixture.staged(10, 100);
    fixture.transport.afterRead(
        _ -> fixture.timer.advanceMs(fixture.transport.reads().size() == 1 ? 5_000 : 0));

    read(block(10, 0));

    assertArrived(block(10, 0));
    assertThat(fixture.count("staged.late")).isEqualTo(1);
    assertThat(fixture.transport.stages())
        .extracting(Stage::timeLeftMs)
        .containsExactly(10_000, 5_000);
  }

  /** Happens if the process is stopped after it has taken the lease. */
  @Test
  void anAnswerThatComesAfterItsLeaseIsAskedForAgain() {
    fixture.staged(10, 100);
    fixture.stager.answers(
        answer -> {
          fixture.timer.advanceMs(fixture.transport.stages().size() == 1 ? 5_000 : 0);
          return answer;
        });

    read(block(10, 0));

    assertArrived(block(10, 0));
    assertThat(fixture.count("staged.late")).isEqualTo(1);
    assertThat(fixture.transport.stages()).hasSize(2);
  }

  @Test
  void blocksThatAreLateThriceAreGivenUp() {
    fixture.staged(10, 100);
    fixture.stager.leases(TimeUnit.SECONDS.toNanos(1));
    fixture.transport.afterRead(_ -> fixture.timer.advanceMs(1_000));

    read(block(10, 0));

    assertFailed(FallbackReason.STAGING);
    assertThat(fixture.count("staged.late")).isEqualTo(3);
    assertThat(fixture.transport.stages()).hasSize(3);
  }

  @Test
  void nothingIsAskedForAfterTheDeadline() {
    fixture.staged(10, 100);
    fixture.transport.afterRead(
        _ -> fixture.timer.advanceMs(fixture.transport.reads().size() == 1 ? 10_000 : 0));

    read(block(10, 0));

    assertFailed(FallbackReason.DEADLINE);
    assertThat(fixture.transport.stages()).hasSize(1);
  }

  @Test
  void aLeaseIsUsedButForItsLastEighth() {
    assertThat(lateAfter(8_000, 0, 6_999)).isZero();
    oneAnswerAndNothingIsHeld();
    assertThat(lateAfter(8_000, 0, 7_000)).isEqualTo(1);
  }

  /** The peer took this time, and the lease begins with its answer. */
  @Test
  void theTimeThatThePeerTookIsAddedToTheLease() {
    assertThat(lateAfter(8_000, 2_000, 8_999)).isZero();
    oneAnswerAndNothingIsHeld();
    assertThat(lateAfter(8_000, 2_000, 9_000)).isEqualTo(1);
  }

  private long lateAfter(long leaseMs, long tookMs, long readMs) {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.readTimeoutMs = 60_000));
    answers.clear();
    fixture.staged(10, 100);
    fixture.stager.leases(TimeUnit.MILLISECONDS.toNanos(leaseMs));
    fixture.stager.took(TimeUnit.MILLISECONDS.toNanos(tookMs));
    fixture.transport.afterRead(
        _ -> fixture.timer.advanceMs(fixture.transport.reads().size() == 1 ? readMs : 0));
    read(block(10, 0));
    return fixture.count("staged.late");
  }

  @Test
  void corruptBytesAreAskedForAgain() {
    fixture.unverifiable(11, 100);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 1));

    read(block(11, 0));

    assertArrived(block(11, 0));
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.transport.stages()).hasSize(2);
  }

  @Test
  void aLeaseIsGivenBackOnceItsBytesAreVerified() {
    Deque<Runnable> held = new ArrayDeque<>();
    AtomicBoolean holds = new AtomicBoolean();
    fixture = holding(held, holds);
    fixture.unverifiable(11, 100);
    fixture.transport.afterRead(_ -> holds.set(fixture.transport.reads().size() == 1));

    read(block(11, 0));
    assertThat(held).as("the verification").hasSize(1);
    assertThat(fixture.transport.done()).isEmpty();

    held.remove().run();
    assertThat(fixture.transport.done()).hasSize(1);
    assertArrived(block(11, 0));
  }

  @Test
  void bytesThatAreWrongThriceAreGivenUp() {
    fixture.staged(10, 100);
    fixture.unverifiable(11, 100);
    fixture.transport.afterRead(read -> corrupt(read, true));

    read(block(10, 0), block(11, 0));

    assertFailed(FallbackReason.CHECKSUM);
    assertThat(fixture.count("corruptions")).isEqualTo(3);
  }

  private static void corrupt(FakeTransport.Read read, boolean now) {
    if (now) {
      long last = read.bytes() - 1;
      byte written = read.target().get(ValueLayout.JAVA_BYTE, last);
      read.target().set(ValueLayout.JAVA_BYTE, last, (byte) ~written);
    }
  }

  @Test
  void aFailedReadGivesBackItsLease() {
    fixture.staged(10, 100);
    fixture.transport.script((number, _) -> number == 0 ? Cause.TRANSPORT : null);
    read(block(10, 0));
    assertFailed(FallbackReason.TRANSPORT);
  }

  /** Happens if the server has restarted: the key is no longer valid. */
  @Test
  void stagingMemoryThatIsGoneIsAStaleLocation() {
    fixture.staged(10, 100);
    fixture.transport.script((number, _) -> number == 0 ? Cause.STALE_LOCATION : null);
    read(block(10, 0));
    assertFailed(FallbackReason.STALE_LOCATION);
  }

  @Test
  void aReadThatCannotBeAskedForIsAnsweredOnce() {
    fixture.staged(10, 100);
    fixture.transport.script(
        (number, _) -> {
          if (number == 0) {
            throw new IllegalStateException("a defect");
          }
          return null;
        });
    read(block(10, 0));
    assertFailed(FallbackReason.TRANSPORT);
  }

  @Test
  void aSinkThatThrowsIsAnsweredOnce() {
    defect = new IllegalStateException("a defect");
    fixture.staged(10, 100);
    read(block(10, 0));
    assertArrived(block(10, 0));
  }
}
