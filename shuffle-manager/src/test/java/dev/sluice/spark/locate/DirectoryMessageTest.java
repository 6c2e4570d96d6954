// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.MessageException;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.OtherVersion;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DirectoryMessageTest {
  static Stream<DirectoryMessage> messages() {
    return Stream.of(
        new Ack(),
        Samples.publish("1"),
        Samples.publish("driver", Samples.location(1), Samples.location(1L << 40)),
        new Publish(Samples.endpoint("2"), List.of(new Published(3, null))),
        new Publish(Samples.atNode("2", "node"), List.of()),
        new Locate(3, 1L << 40, 17, 4),
        new Report(
            "1",
            -5,
            "soft/soft0",
            new TreeMap<>(Map.of("read.blocks", 1L, "read.bytes", 1L << 50))),
        new Report("1", 6, "soft/soft0", Map.of(), List.of(0, 7)),
        new Over(List.of(7)),
        new Find("1"),
        new Found(true, Optional.empty()),
        new Found(false, Optional.of(Samples.atNode("2", "node").peer())),
        new Silent(Samples.atNode("2", "node").peer()),
        new Kept("1", 3, 1L << 40, "the node is drained", Optional.empty()),
        new Kept("1", 3, 4, "the disk is full", Optional.of(Samples.endpoint("1"))),
        new Failure("1", "no device \u2013 none"),
        new OtherVersion("1", "0.1.0+0123abcd"),
        new Started(
            "1",
            "soft",
            "soft0",
            "10.0.0.1",
            "host-1:4000",
            "no device",
            new MemoryLimits(1L << 40, 2, 3)),
        new Details(
            "1",
            Optional.of(
                new ReadTimes(
                    7,
                    List.of(0L, 7L),
                    List.of(new PeerReads(Samples.endpoint("2").peer(), 7, 4_096, 80, 1_000)))),
            new PeerFallbacks(7, List.of(new PeerBlocks("executor 2 at host-2", "LATE", 4)), 3)),
        new Details("1", Optional.empty(), new PeerFallbacks(0, List.of(), 0)));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void encodedMessagesAreDecoded(DirectoryMessage message) throws MessageException {
    assertThat(DirectoryMessage.decode(message.encode())).isEqualTo(message);
  }

  static Stream<Table> tables() {
    LocationLog log = new LocationLog();
    log.append(2, Samples.location(1L << 40));
    log.append(2, Samples.location(7));
    LiveExecutors arrived =
        new LiveExecutors(3, List.of(new Arrival(2, Samples.endpoint("1"))), Optional.empty());
    LiveExecutors lost = new LiveExecutors(3, List.of(), Optional.of(List.of(1, 2)));
    return Stream.of(
        new Table(5, new byte[] {1, 2}, new byte[] {3}, arrived),
        new Table(5, new byte[0], log.records(0), lost));
  }

  @ParameterizedTest
  @MethodSource("tables")
  void aTableKeepsItsBytes(Table table) throws MessageException {
    assertThat(DirectoryMessage.decode(table.encode())).usingRecursiveComparison().isEqualTo(table);
  }

  /** Peers of the previous version read and write these bytes. */
  @Test
  void theBytesOfEveryMessageArePinned() throws IOException {
    List<DirectoryMessage> messages = Stream.concat(messages(), tables()).toList();
    List<String> encoded = new ArrayList<>();
    for (DirectoryMessage message : messages) {
      String hex = HexFormat.of().formatHex(message.encode());
      encoded.add(message.getClass().getSimpleName() + " " + hex);
    }
    try (InputStream pinned = getClass().getResourceAsStream("messages.txt")) {
      assertThat(encoded).isEqualTo(new String(pinned.readAllBytes(), US_ASCII).lines().toList());
    }
    assertThat(messages)
        .map(DirectoryMessage::getClass)
        .map(Class.class::cast)
        .contains(DirectoryMessage.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("messages")
  void truncatedMessagesAreRefused(DirectoryMessage message) throws MessageException {
    byte[] bytes = message.encode();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> DirectoryMessage.decode(cut)).isInstanceOf(MessageException.class);
    }
  }

  @Test
  void unknownTypesAreRefused() {
    assertThatThrownBy(() -> DirectoryMessage.decode(new byte[] {1, 99, 0}))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("unknown type 99");
  }
}
