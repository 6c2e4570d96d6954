// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.RemotePartition;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Map outputs of a node that registers them slowly: the test scripts its daemon and the clock. */
@Timeout(60)
final class JobNodeTest {
  private static final TransportConf CONF =
      new TransportConf("sluice", new MapConfigProvider(Map.of()));
  private static final String JOB = "application_1700000000000_0012-mapreduce";
  private static final String HOST = "127.0.0.1";
  private static final int TIMEOUT_MS = 4_000;
  private static final int BYTES = 100;

  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES, NodeMessages.TYPES);
  private final TransportContext context = new TransportContext(CONF, new Daemon());
  private final TransportServer server = context.createServer(HOST, 0, List.of());
  private final AtomicLong nowNanos = new AtomicLong();
  private final BlockServerClient servers =
      new BlockServerClient(
          new ProcessName(JOB, "reader"),
          CONF,
          List.of(),
          ReaderSettings.of(Map.of()).transferOptions(),
          TIMEOUT_MS,
          () -> TimeUnit.NANOSECONDS.toMillis(nowNanos.get()),
          Thread::startVirtualThread);
  private RdmaEndpoint endpoint;
  private JobNode node;

  /** Ids of the map outputs of each request to locate some. */
  private final List<List<Long>> asked = new ArrayList<>();

  /**
   * Answer of the daemon to a request to locate map outputs.
   *
   * @param registered map outputs that have a location
   */
  private record Answer(long tookMs, Set<Long> registered) {}

  /** Requests for tables. */
  private int staged;

  /** Requests for the job's block server. */
  private int found;

  /** Answers of the daemon to requests for tables. */
  private enum Tables {
    SENT,
    /** Refused after the time that the reader has. */
    REFUSED_LATE,
    /** No answer. */
    NONE
  }

  private Tables tables = Tables.SENT;

  /** Map outputs whose tables the daemon knows: those that it has told the location of. */
  private final Set<Long> known = ConcurrentHashMap.newKeySet();

  /** True if the daemon has registered the map outputs that it knows. Otherwise it stages them. */
  private boolean registers = true;

  /** The last one is repeated. */
  private final Deque<Answer> answers = new ArrayDeque<>();

  private final class Daemon extends RpcHandler {
    @Override
    public void receive(TransportClient from, ByteBuffer request, RpcResponseCallback callback) {
      try {
        Object answer = answer(codec.decode(request));
        if (answer != null) {
          codec.answer(callback, answer);
        }
      } catch (MessageException e) {
        callback.onFailure(e);
      }
    }

    @Override
    public StreamManager getStreamManager() {
      return new OneForOneStreamManager();
    }
  }

  private @Nullable Object answer(Object message) {
    return switch (message) {
      case FindJob _ -> {
        found++;
        yield new Registered("node", HOST, server.getPort(), "soft", List.of());
      }
      case Addressed(_, _, Resolve(_, long[] mapIds)) -> resolved(mapIds);
      case Addressed(_, _, Stage stage) -> answer(stage);
      default -> throw new IllegalArgumentException(message.toString());
    };
  }

  private @Nullable Object answer(Stage stage) {
    staged++;
    return switch (tables) {
      case SENT ->
          new Staged(0, new RemoteRegion(0, 0, 0), 0, 0, Staged.NO_CHECKSUM, tables(stage));
      case REFUSED_LATE -> {
        nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
        yield new NotStaged(false, "scripted");
      }
      case NONE -> null;
    };
  }

  private Resolved resolved(long[] mapIds) {
    asked.add(Arrays.stream(mapIds).boxed().toList());
    Answer answer = answers.size() > 1 ? answers.remove() : answers.element();
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(answer.tookMs));
    known.addAll(answer.registered);
    List<MapOutputLocation> locations = new ArrayList<>();
    for (long mapId : mapIds) {
      locations.add(
          answer.registered.contains(mapId)
              ? new MapOutputLocation(mapId, TableSegment.unregistered(1), 0)
              : null);
    }
    return new Resolved(locations);
  }

  private List<long[]> tables(Stage stage) {
    List<long[]> tables = new ArrayList<>();
    stage
        .wanted()
        .forEach(
            wanted -> {
              if (!known.contains(wanted.mapId())) {
                tables.add(Staged.STALE);
                return;
              }
              RemoteRegion data =
                  registers
                      ? new RemoteRegion(4096, BYTES, 1)
                      : MapOutputHeader.unregistered(BYTES);
              long[] table =
                  Arrays.copyOf(
                      new MapOutputHeader(wanted.mapId(), data, ChecksumAlgorithm.NONE).toLongs(),
                      MapOutputHeader.LONGS + TableEntry.LONGS);
              table[MapOutputHeader.LONGS] = TableEntry.first(0, BYTES);
              table[MapOutputHeader.LONGS + 1] = TableEntry.second(BYTES, BYTES);
              tables.add(table);
            });
    return tables;
  }

  @BeforeEach
  void open() throws Exception {
    ReaderSettings settings =
        ReaderSettings.of(
            Map.of(
                "sluice.mapreduce.port",
                Integer.toString(server.getPort()),
                "sluice.mapreduce.timeout",
                TIMEOUT_MS + "ms"));
    endpoint =
        RdmaEndpoint.open(
            new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getByName(HOST)),
            settings.transferOptions(),
            servers);
    node = new JobNode(JOB, HOST, servers, endpoint, settings, new SilentNodes(), nowNanos::get);
  }

  @AfterEach
  void close() {
    endpoint.close();
    servers.close();
    server.close();
    context.close();
  }

  /** The daemon answers at its own deadline although it still registers some. */
  private void answersLate(Long... registered) {
    answers.add(new Answer(RegistryLimits.RESOLVE_MS, Set.of(registered)));
  }

  private void answersInTime(Long... registered) {
    answers.add(new Answer(1, Set.of(registered)));
  }

  private List<HttpReason> locate(long... mapIds) throws Exception {
    return node.locate(mapIds, 0).stream().map(RemotePartition::failure).toList();
  }

  @Test
  void theOthersAreLocatedWhileTheNodeIsLateForSome() throws Exception {
    answersLate(1L);
    assertThat(locate(1, 2)).containsExactly(null, HttpReason.STAGING);
    assertThat(asked).hasSize(1);
  }

  @Test
  void mapOutputsThatTheNodeLacksAreToldSo() throws Exception {
    answersInTime(1L);
    assertThat(locate(1, 2)).containsExactly(null, HttpReason.NOT_REGISTERED);
    assertThat(asked).hasSize(1);
  }

  @Test
  void oneRequestLocatesMapOutputsThatTheNodeHasRegisteredBefore() throws Exception {
    answersInTime(1L, 2L);
    assertThat(locate(1)).containsExactly((HttpReason) null);
    assertThat(asked).containsExactly(List.of(1L));
    assertThat(locate(1, 2)).containsExactly(null, null);
    assertThat(staged).as("requests for tables").isEqualTo(3);
    assertThat(asked).as("the first one told of both").hasSize(1);
  }

  @Test
  void theNodeIsAskedAgainToRegisterWhatItStages() throws Exception {
    answersInTime(1L);
    registers = false;
    assertThat(locate(1)).containsExactly((HttpReason) null);
    assertThat(locate(1)).containsExactly((HttpReason) null);
    assertThat(asked).containsExactly(List.of(1L), List.of(1L));
  }

  @Test
  void aNodeThatRepeatedlyStagesLateIsNotAskedForSomeTime() throws Exception {
    answersInTime(1L);
    tables = Tables.REFUSED_LATE;
    for (int i = 0; i < 3; i++) {
      assertThat(failure()).isEqualTo(HttpReason.STAGING);
    }
    tables = Tables.SENT;
    assertThat(failure()).isEqualTo(HttpReason.CIRCUIT_OPEN);
    assertThat(failure()).isEqualTo(HttpReason.CIRCUIT_OPEN);
    assertThat(staged).as("requests for tables").isEqualTo(3);
    nowNanos.addAndGet(TimeUnit.MINUTES.toNanos(1)); // sluice.mapreduce.circuit.cooldown
    assertThat(locate(1)).containsExactly((HttpReason) null);
    assertThat(found).as("requests for the block server").isEqualTo(1);
  }

  @Test
  void aNodeThatDoesNotAnswerARequestForTablesIsNotLookedForAgain() throws Exception {
    answersInTime(1L);
    tables = Tables.NONE;
    assertThat(failure()).isEqualTo(HttpReason.STAGING);
    assertThat(found).as("requests for the block server").isEqualTo(1);
  }

  private HttpReason failure() throws Exception {
    try {
      locate(1);
    } catch (NodeReadException e) {
      return e.reason();
    }
    throw new AssertionError("the map output was located");
  }
}
