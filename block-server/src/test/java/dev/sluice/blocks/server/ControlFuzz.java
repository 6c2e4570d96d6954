// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.staging.Leases;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.staging.TestTimer;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.fuzz.Allocation;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportResponseHandler;

/**
 * Fuzzes frames of the control channel. Any bytes are decoded to a message or end in a {@link
 * MessageException}. As a request they get one answer, or one expected failure. Decoding allocates
 * in proportion to the bytes.
 */
public final class ControlFuzz {
  private static final long BASE_ALLOCATION_BYTES = 64 << 10;
  private static final long ALLOCATION_PER_BYTE = 32;
  private static final long ANSWER_TIMEOUT_MS = 10_000;
  private static final int SHUFFLE = 3;
  private static final long MAP_OUTPUT = 5;
  private static final long LEASE = 11;
  private static final ProcessName SELF = new ProcessName("app", "server");
  private static final ProcessName OTHER = new ProcessName("app", "gone");
  private static final ControlFuzz FUZZ = new ControlFuzz();

  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final TransportClient client;
  private final BlockServerHandler handler;

  /** Takes the answer of a request. */
  private static final class Answer implements RpcResponseCallback {
    private final AtomicInteger count = new AtomicInteger();
    private final CountDownLatch first = new CountDownLatch(1);
    private volatile ByteBuffer response;
    private volatile Throwable failure;

    @Override
    public void onSuccess(ByteBuffer encoded) {
      response = encoded;
      count.incrementAndGet();
      first.countDown();
    }

    @Override
    public void onFailure(Throwable e) {
      failure = e;
      onSuccess(null);
    }

    void assertOne() {
      try {
        assertThat(first.await(ANSWER_TIMEOUT_MS, TimeUnit.MILLISECONDS))
            .as("the request was answered")
            .isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      assertThat(count).hasValue(1);
      if (failure != null && !(failure instanceof IOException)) {
        throw new AssertionError("unexpected failure", failure);
      }
    }
  }

  private ControlFuzz() {
    try {
      Path directory = Files.createTempDirectory("sluice-fuzz");
      directory.toFile().deleteOnExit();
      TestMapOutputs outputs = new TestMapOutputs(directory);
      outputs.write(SHUFFLE, MAP_OUTPUT, 10, 20);
      try (var files = Files.list(directory)) {
        files.forEach(file -> file.toFile().deleteOnExit());
      }
      MapOutputRegistry registry =
          new MapOutputRegistry(
              domain,
              outputs.directories(),
              outputs::find,
              new RegistryLimits(1 << 20, 100, 1_000),
              new RecordingListener(),
              () -> 0);
      Stager stager = new Stager(domain, registry, 4 << 20, 2, System::nanoTime, TestTimer.TIMER);
      handler = new BlockServerHandler(codec, SELF, "soft", new FakeAcceptor(), registry, stager);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Channel channel = new EmbeddedChannel();
    client = new TransportClient(channel, new TransportResponseHandler(channel));
  }

  public static void fuzzerTestOneInput(byte[] input) {
    Allocation.handle(() -> FUZZ.run(input));
  }

  private void run(byte[] input) {
    Allocation.assertWithin(
        BASE_ALLOCATION_BYTES + ALLOCATION_PER_BYTE * input.length, () -> decode(input));
    Object message = decode(input);
    if (message != null) {
      assertEncodesAsItWasDecoded(message);
    }
    Answer answer = new Answer();
    handler.receive(client, ByteBuffer.wrap(input), answer);
    answer.assertOne();
    if (message instanceof Addressed(_, String peerId, Stage _) && answer.response != null) {
      giveBack(peerId, answer.response);
    }
    handler.receive(client, ByteBuffer.wrap(input));
    assertThat(domain.openRegions())
        .as("regions of one map output and of staging")
        .isLessThanOrEqualTo(6);
  }

  /** Ends a lease, so that the next request has memory to stage in. */
  private void giveBack(String peerId, ByteBuffer response) {
    try {
      if (codec.decode(response) instanceof Staged lease) {
        Done done = new Done(SELF, peerId, lease.leaseId());
        handler.receive(client, ByteBuffer.wrap(codec.encode(done)));
      }
    } catch (MessageException e) {
      throw new AssertionError("the server's answer cannot be decoded", e);
    }
  }

  /** Null for bytes that are not a message. */
  private Object decode(byte[] input) {
    try {
      return codec.decode(ByteBuffer.wrap(input));
    } catch (MessageException e) {
      return null;
    }
  }

  private void assertEncodesAsItWasDecoded(Object message) {
    try {
      byte[] encoded = codec.encode(message);
      if (!Arrays.equals(codec.encode(codec.decode(encoded)), encoded)) {
        throw new AssertionError("encoding and decoding changed the message " + message);
      }
    } catch (MessageException e) {
      throw new AssertionError(message + " cannot be sent", e);
    }
  }

  private static Stage stage(long position, Partitions... wanted) {
    return new Stage(SHUFFLE, 10_000, List.of(wanted), position, 30);
  }

  /** One message of each type, as peers send it. */
  public static List<byte[]> valid() throws MessageException {
    MapOutputLocation location =
        new MapOutputLocation(
            MAP_OUTPUT,
            new TableSegment(new RemoteRegion(2L << 40, TableSegment.bytes(8, 40), 8), 8),
            7);
    List<byte[]> encoded = new ArrayList<>();
    for (Object message :
        List.of(
            new Connect(SELF, "7", "soft", FakeAcceptor.queuePair(9)),
            new Connect(new ProcessName("", "8"), "7", "soft", FakeAcceptor.queuePair(9)),
            new Connected(FakeAcceptor.queuePair(10)),
            new Refused("all queue pairs are in use"),
            new Resolved(Arrays.asList(location, null, location)),
            new Addressed(SELF, "7", new Resolve(SHUFFLE, new long[] {1, MAP_OUTPUT})),
            new Addressed(OTHER, "7", new Resolve(SHUFFLE, new long[] {1, MAP_OUTPUT})),
            new Addressed(SELF, "7", stage(0, new Partitions(MAP_OUTPUT, 0, 2))),
            new Addressed(SELF, "7", stage(5, new Partitions(MAP_OUTPUT, 1, 2))),
            new Addressed(
                SELF,
                "7",
                stage(0, new Partitions(MAP_OUTPUT, 0, 1), new Partitions(MAP_OUTPUT, -1, 3))),
            new Addressed(SELF, "7", new Touch(SHUFFLE)),
            new Addressed(SELF, "7", new Released("7", 9)),
            new Staged(
                LEASE,
                new RemoteRegion(1L << 40, 20, 7),
                1_000,
                Leases.NANOS,
                12,
                List.of(new long[] {MAP_OUTPUT, 1, 2, 3, 4, 5}, new long[0])),
            new NotStaged(true, "the map output is gone"),
            new Done(SELF, "7", LEASE))) {
      encoded.add(FUZZ.codec.encode(message));
    }
    return encoded;
  }
}
