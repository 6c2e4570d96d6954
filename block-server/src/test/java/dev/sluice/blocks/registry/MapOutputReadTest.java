// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.server.TestBlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.staging.TestTimer;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The whole path between two processes' devices, in every form that the software device registers:
 * resolve, connect, READ the table, READ the data.
 */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ON_DEMAND_MAPPING")
class MapOutputReadTest {
  private static final int SHUFFLE = 3;
  private static final int RACES = Integer.getInteger("sluice.races.unregister", 100);
  private static final TransportConf CONF = new TransportConf("sluice", MapConfigProvider.EMPTY);

  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private TestMapOutputs outputs;
  private Node serving;
  private Node reading;
  private MapOutputRegistry registry;
  private Stager stager;
  private BlockServer server;
  private BlockServerClient client;
  private PeerAddress peer;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    serving = Node.soft();
    reading = Node.soft();
    registry =
        new MapOutputRegistry(
            serving.domain(),
            outputs.directories(form),
            outputs::find,
            new RegistryLimits(1 << 24, 100, 1_000),
            new RecordingListener(),
            () -> 0);
    stager = new Stager(serving.domain(), registry, 4 << 20, 2, System::nanoTime, TestTimer.TIMER);
    server =
        new BlockServer(
            new BlockServer.Binding(CONF, "localhost", 0, List.of()),
            TestBlockServer.SELF,
            "soft",
            serving,
            registry,
            stager);
    client =
        new BlockServerClient(
            TestBlockServer.CLIENT,
            CONF,
            List.of(),
            TransferOptions.DEFAULT,
            10_000,
            () -> 0,
            Thread::startVirtualThread);
    peer = new PeerAddress("server", "localhost", server.port());
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    stager.close();
    registry.close();
    assertThat(outputs.mappings()).isZero();
    reading.close();
    serving.close();
  }

  private QueuePair connect() throws Exception {
    QueuePair queuePair = reading.newQueuePair(Set.of());
    Node.connect(
        queuePair, client.exchange(peer, "soft", queuePair.address()).get(20, TimeUnit.SECONDS));
    return queuePair;
  }

  private MapOutputLocation locate(long mapId) throws Exception {
    return client.resolve(peer, SHUFFLE, new long[] {mapId}).get(20, TimeUnit.SECONDS).getFirst();
  }

  private MapOutputHeader resolve(long mapId) throws Exception {
    assertThat(locate(mapId)).isNotNull();
    return registry.output(SHUFFLE, mapId).header();
  }

  private ByteBuffer read(QueuePair queuePair, RemoteRegion region) throws Exception {
    reading.postRead(queuePair, region);
    assertThat(reading.awaitCompletion()).isEqualTo(WorkCompletionStatus.SUCCESS);
    return ByteBuffer.wrap(reading.received(region.length())).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void aPartitionIsReadByItsTable() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, 10, 100_000, 20);
    MapOutputLocation location = locate(7);
    QueuePair queuePair = connect();

    ByteBuffer headerBytes = read(queuePair, location.segment().headers(0, 1));
    long[] longs = new long[MapOutputHeader.LONGS];
    headerBytes.asLongBuffer().get(longs);
    MapOutputHeader header = MapOutputHeader.of(7, longs, 0);
    ByteBuffer entry = read(queuePair, location.segment().entries(1, 2, 0, 0));
    assertThat(TableEntry.offset(entry.getLong(0))).isEqualTo(10);
    assertThat(TableEntry.length(entry.getLong(0), entry.getLong(8))).isEqualTo(100_000);

    reading.postRead(queuePair, header.data());
    assertThat(reading.awaitCompletion()).isEqualTo(WorkCompletionStatus.SUCCESS);
    assertThat(reading.received(data.length)).isEqualTo(data);
  }

  @Test
  void anUnregisteredShuffleIsAStaleLocation() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    MapOutputHeader location = resolve(7);
    registry.unregister(SHUFFLE);
    outputs.delete(SHUFFLE, 7);

    reading.postRead(connect(), location.data());
    assertThat(reading.awaitCompletion()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    assertThat(locate(7)).isNull();
  }

  @Test
  void unregisteringRacesReads() throws Exception {
    // Alternate between two map outputs, so that the previous round's region has other bytes.
    byte[][] data = {outputs.write(SHUFFLE, 0, 1 << 20), outputs.write(SHUFFLE, 1, 1 << 20)};
    Map<WorkCompletionStatus, Integer> ends = new EnumMap<>(WorkCompletionStatus.class);
    for (int round = 0; round < RACES; round++) {
      int map = round % 2;
      registry.add(SHUFFLE, map);
      MapOutputHeader location = resolve(map);
      reading.clear();
      try (QueuePair queuePair = connect()) {
        CompletableFuture<Void> unregistering;
        if (round % 4 < 2) {
          unregistering = CompletableFuture.runAsync(() -> registry.unregister(SHUFFLE));
          reading.postRead(queuePair, location.data());
        } else {
          reading.postRead(queuePair, location.data());
          unregistering = CompletableFuture.runAsync(() -> registry.unregister(SHUFFLE));
        }
        WorkCompletionStatus status = reading.awaitCompletion();
        unregistering.get(10, TimeUnit.SECONDS);
        if (status == WorkCompletionStatus.SUCCESS) {
          assertThat(reading.received(data[map].length)).isEqualTo(data[map]);
        }
        ends.merge(status, 1, Integer::sum);
      }
      assertThat(outputs.mappings()).isZero();
    }
    System.out.println(form + ", READs that met unregistering: " + ends);
    assertThat(ends)
        .containsOnlyKeys(WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REM_ACCESS_ERR);
  }
}
