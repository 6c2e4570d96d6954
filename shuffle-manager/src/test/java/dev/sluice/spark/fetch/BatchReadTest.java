// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchReadTest {
  /** Throws at a given call of {@link #awaits}; the fifth is between two parts. */
  private static final class Defect implements BatchRead.Sink {
    final List<FallbackReason> answers = new ArrayList<>();
    private int left;

    Defect(int time) {
      left = time;
    }

    @Override
    public boolean awaits() {
      left--;
      if (left == 0) {
        throw new StackOverflowError("scripted");
      }
      return true;
    }

    @Override
    public long deadlineNanos() {
      return Long.MAX_VALUE / 2;
    }

    @Override
    public void extendDeadline() {}

    @Override
    public void arrived(ReadTransport.Buffer buffer, Span there) {
      throw new AssertionError("nothing can be READ");
    }

    @Override
    public void failed(FallbackReason reason) {
      answers.add(reason);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void anyErrorGivesBackBufferAndShare(int time) {
    ReadFixture fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = 60));
    fixture.staged(10, 100);
    FetchContext path = fixture.client.path;
    RequestedBlocks blocks = new RequestedBlocks(List.of(RequestedBlock.parse(block(10, 0))));
    LocatedBlocks located = path.locate("7", blocks, false, path.deadlineNanos()).join();
    Span one = new Span(0, 1, 100, true);
    Defect sink = new Defect(time);

    new BatchRead(path, located, one, sink).start(new TaskReads(1));

    assertThat(sink.answers).containsExactly(FallbackReason.TRANSPORT);
    fixture.assertNothingIsHeld();
  }
}
