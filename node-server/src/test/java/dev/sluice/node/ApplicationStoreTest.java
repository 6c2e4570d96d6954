// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.MapOutputLocation;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ApplicationStoreTest {
  private static final int SHUFFLE = 5;
  private static final int WAIT_S = 20;

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final CountDownLatch pinning = new CountDownLatch(1);
  private final CountDownLatch pinned = new CountDownLatch(1);
  private ApplicationFolder folder;
  private TestMapOutputs outputs;
  private ApplicationStore store;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    folder = new ApplicationFolder(Files.createDirectory(directory.resolve("application")));
    outputs = new TestMapOutputs(directory);
    NodeOptions options =
        NodeOptions.of(
            Map.of(
                NodeSettings.DIRECTORIES.key(),
                directory.toString(),
                NodeSettings.MIN_FREE_BYTES.key(),
                "1m"));
    store =
        new ApplicationStore(
            List.of(folder), new AdmissionControl(options, List::of), Duration.ofMinutes(10));
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            store.finder(),
            new RegistryLimits(1 << 20, 100, 1_000),
            MapOutputListener.NONE,
            () -> 0);
    store.open(registry);
  }

  @AfterEach
  void nothingIsLeft() {
    pinned.countDown();
    store.close();
    registry.close();
    assertThat(domain.openRegions()).isZero();
  }

  private void take(int shuffleId, long mapId) throws Exception {
    outputs.write(shuffleId, mapId, 1_000);
    folder.commit(shuffleId, mapId, outputs.find(shuffleId, mapId));
    store.take(shuffleId, mapId, 0);
  }

  /** SQL removes files, and writes the same shuffle again when the query runs again. */
  @Test
  void mapOutputsWrittenAgainStayHoweverLongTheRemovalTakes() throws Exception {
    domain.whenRegistering(
        () -> {
          pinning.countDown();
          TestMapOutputs.await(pinned);
        });
    take(SHUFFLE, 10);
    take(SHUFFLE + 1, 20);
    pinning.await();

    CompletableFuture<Void> slow = store.remove(SHUFFLE);
    CompletableFuture<Void> behind = store.remove(SHUFFLE + 1);
    store.removeBut(new Renew(NodeResponse.NEVER, new int[] {SHUFFLE + 1})); // after both
    take(SHUFFLE + 1, 21);
    assertThat(behind).isNotDone();
    pinned.countDown();
    slow.get(WAIT_S, TimeUnit.SECONDS);
    behind.get(WAIT_S, TimeUnit.SECONDS);

    assertThat(folder.path()).isDirectoryNotContaining("glob:**/{5-10,6-20}");
    assertThat(store.shuffles()).isEqualTo(1);
    assertThat(store.outputs()).isEqualTo(1);
    assertThat(store.bytes()).isEqualTo(1_000);
    List<MapOutputLocation> locations =
        registry.resolve(SHUFFLE + 1, new long[] {20, 21}).get(WAIT_S, TimeUnit.SECONDS);
    assertThat(locations.getFirst()).isNull();
    assertThat(locations.getLast()).isNotNull();
    assertThat(registry.output(SHUFFLE, 10)).isNull();
  }

  /** A hand-over reads no more than the end of the index. */
  @Test
  void aDamagedIndexIsNotRegistered() throws Exception {
    outputs.write(SHUFFLE, 10, 300, 700);
    byte[] offsets =
        ByteBuffer.allocate(3 * Long.BYTES).putLong(0).putLong(2_000).putLong(1_000).array();
    Files.write(outputs.index(SHUFFLE, 10), offsets);
    folder.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    store.take(SHUFFLE, 10, 0);
    assertThat(registry.resolve(SHUFFLE, new long[] {10}).get(WAIT_S, TimeUnit.SECONDS))
        .containsOnlyNulls();
  }
}
