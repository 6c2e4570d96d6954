// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.stage.StageLoad.Answer;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.rdma.transfer.PeerQuota;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class StageLoadTest {
  private static final int MAPS = 32;
  private static final int PARTITION_BYTES = 1 << 16;

  @TempDir Path directory;
  private SampleOutputs outputs;
  private long[][] checksums;

  @BeforeEach
  void write() throws Exception {
    outputs = new SampleOutputs(directory, MAPS, 2, PARTITION_BYTES);
    checksums = outputs.write();
  }

  @Test
  void aChunkIsOfOnePartitionAndTheNextOnesOfOtherMapOutputs() {
    List<Piece> first = StageLoad.pieces(outputs, 0);
    assertThat(first).hasSize(16).allMatch(piece -> piece.position() == 0);
    List<Piece> four =
        IntStream.range(0, 4)
            .mapToObj(i -> StageLoad.pieces(outputs, i))
            .flatMap(List::stream)
            .toList();
    assertThat(four).doesNotHaveDuplicates().hasSize(2 * MAPS);
    assertThat(StageLoad.pieces(outputs, 4)).isEqualTo(first);
  }

  @Test
  void allChunksComeAndAreRight() throws Exception {
    assertThat(stage(checksums)).isNotEmpty().allMatch(answer -> answer.failure() == null);
  }

  @Test
  void aChunkWithOtherBytesIsAFailure() throws Exception {
    checksums[17][1]++;
    assertThat(stage(checksums)).anyMatch(answer -> answer.failure() != null);
  }

  @Test
  void aShareThatComesTooLateIsGivenBack() throws Exception {
    PeerQuota<String> quota = new PeerQuota<>(10, 10);
    StageLoad.acquire(quota, "a", 10, 1);
    assertThatThrownBy(() -> StageLoad.acquire(quota, "b", 10, 1))
        .isInstanceOf(TimeoutException.class);
    quota.release("a", 10);
    assertThat(quota.bytes()).isZero();
  }

  /** Runs a stage with at least one answer of each of two executors. */
  private List<Answer> stage(long[][] expected) throws Exception {
    try (NetworkParts server = new NetworkParts("s", 4 << 20, outputs, List.of(directory));
        NetworkParts a = new NetworkParts("a", 16 << 20, (_, _) -> null, List.of());
        NetworkParts b = new NetworkParts("b", 16 << 20, (_, _) -> null, List.of())) {
      long[] mapIds = LongStream.range(0, MAPS).toArray();
      a.client().resolve(server.address(), StageLoad.SHUFFLE, mapIds).join();
      try (StageLoad load =
          new StageLoad(List.of(a, b), List.of(server.address()), outputs, expected, 0)) {
        while (load.answers().size() < 16) {
          Thread.onSpinWait();
        }
        return load.answers();
      }
    }
  }
}
