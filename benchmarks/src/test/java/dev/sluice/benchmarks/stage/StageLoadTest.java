// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.LongPredicate;
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
  private final Set<String> failures = new ConcurrentSkipListSet<>();

  @BeforeEach
  void write() throws Exception {
    outputs = new SampleOutputs(directory, MAPS, 2, PARTITION_BYTES);
    checksums = outputs.write();
  }

  @Test
  void aChunkIsOfOnePartitionAndTheNextOnesOfOtherMapOutputs() {
    List<Partitions> first = StageLoad.blocks(outputs, 0);
    assertThat(first).hasSize(16).allMatch(block -> block.start() == 0);
    List<Partitions> four =
        IntStream.range(0, 4)
            .mapToObj(i -> StageLoad.blocks(outputs, i))
            .flatMap(List::stream)
            .toList();
    assertThat(four).doesNotHaveDuplicates().hasSize(2 * MAPS);
    assertThat(StageLoad.blocks(outputs, 4)).isEqualTo(first);
  }

  @Test
  void allChunksComeAndAreRight() throws Exception {
    stage(answers -> answers >= 16);
    assertThat(failures).isEmpty();
  }

  @Test
  void aChunkWithOtherBytesIsAFailure() throws Exception {
    checksums[17][1]++;
    stage(_ -> !failures.isEmpty());
    assertThat(failures)
        .containsExactly(
            "a request failed: java.io.IOException: staged bytes have a wrong checksum");
  }

  /** Lets two executors stage until a condition on the number of right answers holds. */
  private void stage(LongPredicate enough) throws Exception {
    try (NetworkParts server = new NetworkParts("s", 4 << 20, outputs, List.of(directory));
        NetworkParts a = new NetworkParts("a", 16 << 20, (_, _) -> null, List.of());
        NetworkParts b = new NetworkParts("b", 16 << 20, (_, _) -> null, List.of())) {
      a.awaitMapOutputs(server.address(), LongStream.range(0, MAPS).toArray());
      List<PeerAddress> servers = List.of(server.address());
      try (StageLoad load = new StageLoad(List.of(a, b), servers, outputs, checksums, failures)) {
        while (!enough.test(load.answers(servers))) {
          Thread.onSpinWait();
        }
      }
    }
  }
}
