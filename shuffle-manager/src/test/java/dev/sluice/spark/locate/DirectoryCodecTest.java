// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.MessageException;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DirectoryCodecTest {
  private final DirectoryCodec codec = new DirectoryCodec();

  static Stream<DirectoryMessage> messages() {
    return Stream.of(
        new Ack(),
        Samples.publish("1"),
        Samples.publish("driver", Samples.location(1), Samples.location(1L << 40)),
        new Publish(Samples.endpoint("2"), List.of(new Published(3, null))),
        new Publish(Samples.atNode("2", "node"), List.of()),
        new Locate(3, 1L << 40, 17, 4),
        new Report("1", -5, "soft/soft0", Map.of("read.blocks", 1L, "read.bytes", 1L << 50)),
        new Report("1", 6, "soft/soft0", Map.of(), List.of(0, 7)),
        new Over(List.of(7)),
        new Find("1"),
        new Found(null, true),
        new Found(Samples.atNode("2", "node").peer(), false),
        new Silent(Samples.atNode("2", "node").peer()),
        new Kept("1", 3, 1L << 40, "the node is drained", Optional.empty()),
        new Kept("1", 3, 4, "the disk is full", Optional.of(Samples.endpoint("1"))),
        new Failure("1", "no device \u2013 none"));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void encodedMessagesAreDecoded(DirectoryMessage message) throws MessageException {
    assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
  }

  @Test
  void aTableKeepsItsBytes() throws MessageException {
    assertIsKept(new LiveExecutors(3, List.of(new Arrival(2, Samples.endpoint("1"))), null));
    assertIsKept(new LiveExecutors(3, List.of(), List.of(1, 2)));
  }

  private void assertIsKept(LiveExecutors executors) throws MessageException {
    Table table = new Table(5, new byte[] {1, 2}, new byte[] {3}, executors);
    assertThat(codec.decode(codec.encode(table))).usingRecursiveComparison().isEqualTo(table);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void truncatedMessagesAreRefused(DirectoryMessage message) throws MessageException {
    byte[] bytes = codec.encode(message);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> codec.decode(cut)).isInstanceOf(MessageException.class);
    }
  }

  @Test
  void unknownTypesAreRefused() {
    assertThatThrownBy(() -> codec.decode(new byte[] {1, 99, 0}))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("unknown type 99");
  }
}
