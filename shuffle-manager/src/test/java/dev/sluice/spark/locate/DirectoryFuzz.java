// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.rdma.fuzz.Allocation;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Decodes arbitrary bytes as messages to or from the driver's directory. The result is a message,
 * or a {@link MessageException}. The directory answers a message or throws an IOException, and an
 * executor handles a table in the same way. Both allocate in proportion to the message and their
 * state.
 */
public final class DirectoryFuzz {
  private static final long BASE_ALLOCATION_BYTES = 64 << 10;
  private static final long ALLOCATION_PER_BYTE = 48;
  private static final int KNOWN = 3;
  private static final long GENERATION = 1;

  private DirectoryFuzz() {}

  /** Step that may throw an IOException. */
  private interface Step {
    void run() throws IOException;
  }

  public static void fuzzerTestOneInput(byte[] input) {
    Allocation.handle(() -> run(input));
  }

  private static void run(byte[] input) {
    within(input, () -> DirectoryMessage.decode(input));
    DirectoryMessage message = decode(input);
    if (message == null) {
      return;
    }
    assertComesBack(message);
    if (!(message instanceof Failure)) { // which is only logged
      LocationDirectory directory = directory();
      within(input, () -> directory.handle(message));
    }
    if (message instanceof Table table) {
      KnownExecutors executors = new KnownExecutors(_ -> {});
      DirectoryClient unused = new DirectoryClient(null, 0, executors);
      ShuffleTable locations = new ShuffleTable(Samples.SHUFFLE, unused, () -> 0);
      within(input, () -> take(table, executors, locations));
    }
  }

  private static void within(byte[] input, Step step) {
    Allocation.assertWithin(
        BASE_ALLOCATION_BYTES + ALLOCATION_PER_BYTE * input.length, () -> runOrRefuse(step));
  }

  private static void runOrRefuse(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  private static DirectoryMessage decode(byte[] input) {
    try {
      return DirectoryMessage.decode(input);
    } catch (MessageException e) {
      return null;
    }
  }

  private static void assertComesBack(DirectoryMessage message) {
    try {
      byte[] encoded = message.encode();
      DirectoryMessage decoded = DirectoryMessage.decode(encoded);
      if (!decoded.equals(message) && !Arrays.equals(decoded.encode(), encoded)) {
        throw new AssertionError(decoded + " comes back of " + message);
      }
    } catch (MessageException e) {
      throw new AssertionError(message + " cannot be sent", e);
    }
  }

  /** A directory that knows an executor and some map outputs. */
  private static LocationDirectory directory() {
    LocationDirectory directory =
        new LocationDirectory(
            new FakeBroadcasts().shipping(), Samples.logBytes(4), _ -> true, _ -> {});
    MapOutputLocation[] locations = new MapOutputLocation[KNOWN];
    Arrays.setAll(locations, Samples::location);
    try {
      directory.handle(Samples.publish("1", locations));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return directory;
  }

  /** Takes a table like the executor that asked for it; its tasks then look for map outputs. */
  private static void take(Table table, KnownExecutors executors, ShuffleTable locations)
      throws IOException {
    Locate question = locations.question();
    executors.update(table.executors());
    locations.update(question, table, null, 0);
    locations.find("1", LongStream.range(0, KNOWN).toArray());
  }

  /** Returns each kind of message as executors and driver send it. */
  public static List<byte[]> valid() throws IOException {
    LocationDirectory directory = directory();
    List<DirectoryMessage> messages = new ArrayList<>();
    messages.add(new Ack());
    messages.add(Samples.publish("2", Samples.location(4), Samples.location(5)));
    messages.add(new Publish(Samples.endpoint("1"), List.of(new Published(Samples.SHUFFLE, null))));
    for (int known = 0; known <= KNOWN; known++) {
      messages.add(new Locate(Samples.SHUFFLE, GENERATION, known, 0));
    }
    messages.add(directory.handle(new Locate(Samples.SHUFFLE, 0, 0, 0)).join());
    messages.add(
        new Table(
            5,
            new byte[] {1},
            new byte[0],
            new LiveExecutors(
                4, List.of(new Arrival(4, Samples.endpoint("2"))), Optional.of(List.of(1, 3)))));
    messages.add(
        new Report("1", 5, "soft/soft0", Map.of("read.blocks", 1L, "read.bytes", 2L), List.of(1)));
    messages.add(new Over(List.of(1)));
    messages.add(new Find("1"));
    messages.add(new Found(true, Optional.of(Samples.atNode("1", "node").peer())));
    messages.add(new Failure("1", "no device"));
    List<byte[]> encoded = new ArrayList<>();
    for (DirectoryMessage message : messages) {
      encoded.add(message.encode());
    }
    return encoded;
  }
}
