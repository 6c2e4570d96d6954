// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.FileTree;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Lifetime of an application's map outputs at a node, and the port that serves the application. */
class NodeLifetimeTest extends NodeDaemonTestCase {
  @Test
  void anExecutorFindsADaemonThatWasStartedElsewhereWithoutAHandOver() throws Exception {
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.refresh();
      PeerAddress before = executor.endpoint().peer();
      daemon.close();
      try (ServerSocket others =
          new ServerSocket(before.port(), 1, InetAddress.getByName("127.0.0.1"))) {
        start();
        executor.refresh();
        assertThat(executor.endpoint().peer().id()).isNotEqualTo(before.id());
        assertThat(executor.endpoint().peer().port())
            .isNotEqualTo(others.getLocalPort())
            .isEqualTo(portOf(APPLICATION));
      }
    }
  }

  @Test
  void anApplicationWhosePortIsTakenLeavesTheOthersTheirs() throws Exception {
    int first = threeFreePorts();
    set(NodeSettings.PORTS, first + "-" + (first + 2));
    start();
    enter(APPLICATION, SECRET).close();
    enter(OTHER, SECRET).close();
    assertThat(portOf(OTHER)).isEqualTo(first + 1);
    daemon.close();
    try (ServerSocket _ = new ServerSocket(first, 1, InetAddress.getByName("127.0.0.1"))) {
      start();
      assertThat(portOf(OTHER)).isEqualTo(first + 1);
      assertThat(portOf(APPLICATION)).isEqualTo(first + 2);
    }
  }

  /** Its application may have been silent for long; without a secret it gets as far as this. */
  @Test
  void aDriverWhosePortIsAnotherApplicationsIsRefused() throws Exception {
    int port = threeFreePorts();
    set(NodeSettings.PORTS, port + "-" + port);
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    PeerAddress node;
    try (NodeClient before = enter(OTHER, "");
        NodeReader driver = new NodeReader(OTHER, "")) {
      node = before.endpoint().peer();
      driver.tell(node, new EndApplication());
      awaitNone(OTHER);
    }
    try (NodeClient executor = enter(APPLICATION, "");
        NodeReader reader = new NodeReader(APPLICATION, "");
        NodeReader late = new NodeReader(OTHER, "")) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(executor.endpoint().peer().port()).isEqualTo(node.port());

      for (Lifetime said :
          List.of(
              new Renew(NodeResponse.NEVER, new int[0]),
              new RemoveShuffle(SHUFFLE),
              new EndApplication())) {
        assertThatThrownBy(() -> late.tell(node, said))
            .hasMessageContaining("this port now belongs to application app-1-ab, not to app-2-cd");
      }
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(1_000);
    }
  }

  /** A crash may have lost the data, or all but its length. */
  @Test
  void mapOutputsOfAnotherBootAreNotServed() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    PeerAddress before;
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      before = executor.endpoint().peer();
    }
    daemon.close();
    Path state = folder(APPLICATION).resolve(".application");
    Files.writeString(state, Files.readString(state).replaceFirst("(?m)^boot=.*$", "boot=another"));
    start();
    assertThat(daemon.applications()).isEmpty();
    awaitNone(APPLICATION);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      PeerAddress again = executor.endpoint().peer();
      NodeResponse heard = driver.tell(again, new Renew(NodeResponse.NEVER, new int[] {SHUFFLE}));
      assertThat(heard.keeps(again.id())).isTrue();
      assertThat(heard.keeps(before.id())).as("map outputs of the former boot are kept").isFalse();
    }
  }

  @Test
  void mapOutputsThatAnExecutorTakesBackAreForgotten() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s");
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      FileTree.delete(folder(APPLICATION).resolve("5-10"));
      Poll.await(
          "the map output is forgotten",
          WAIT,
          () -> {
            executor.refresh();
            return metric(APPLICATION, NodeMetric.BYTES) == 0;
          });
    }
  }

  @Test
  void aShuffleThatIsOverGivesDiskAndRegionsBack() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    byte[] kept = outputs.write(SHUFFLE + 1, 11, 500);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      PeerAddress node = executor.endpoint().peer();
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      executor.handOver(SHUFFLE + 1, 11, outputs.find(SHUFFLE + 1, 11));
      reader.read(node, SHUFFLE, 10);
      reader.read(node, SHUFFLE + 1, 11);
      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(1_500);
      long regions = metric(APPLICATION, NodeMetric.REGISTERED_REGIONS);

      assertThat(reader.tell(node, new RemoveShuffle(SHUFFLE)).nodeId()).isEqualTo(node.id());

      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(500);
      assertThat(metric(APPLICATION, NodeMetric.MAP_OUTPUTS)).isEqualTo(1);
      assertThat(metric(APPLICATION, NodeMetric.REGISTERED_REGIONS)).isLessThan(regions);
      assertThat(metric(APPLICATION, NodeMetric.REGISTERED_OUTPUTS)).isEqualTo(1);
      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/5-10");
      assertThat(reader.locate(node, SHUFFLE, 10)).isNull();
      assertThat(reader.read(node, SHUFFLE + 1, 11)).isEqualTo(kept);
    }
  }

  @Test
  void aDriverIsToldTheVersion() throws Exception {
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      assertThat(driver.version(executor.endpoint().peer()))
          .isEqualTo(NodeMain.buildVersion().orElse(""));
    }
  }

  /** SQL removes files, and writes the same shuffle again when the query runs again. */
  @Test
  void mapOutputsWrittenAgainUnderAnEndedShufflesIdStay() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE + 1, 20, 1_000);
    byte[] again = outputs.write(SHUFFLE + 1, 21, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      PeerAddress node = executor.endpoint().peer();
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      executor.handOver(SHUFFLE + 1, 20, outputs.find(SHUFFLE + 1, 20));
      reader.read(node, SHUFFLE, 10);
      reader.read(node, SHUFFLE + 1, 20);

      CompletableFuture<NodeResponse> slow = reader.say(node, new RemoveShuffle(SHUFFLE));
      CompletableFuture<NodeResponse> behind = reader.say(node, new RemoveShuffle(SHUFFLE + 1));
      reader.tell(node, new Renew(NodeResponse.NEVER, new int[] {SHUFFLE + 1})); // runs after both
      executor.handOver(SHUFFLE + 1, 21, outputs.find(SHUFFLE + 1, 21));
      slow.get(WAIT_S, TimeUnit.SECONDS);
      behind.get(WAIT_S, TimeUnit.SECONDS);

      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/{5-10,6-20}");
      assertThat(reader.locate(node, SHUFFLE + 1, 20)).isNull();
      assertThat(reader.read(node, SHUFFLE + 1, 21)).isEqualTo(again);
      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(1_000);
    }
  }

  /** The list may come late. */
  @Test
  void mapOutputsOutliveAnOlderListOfLiveShuffles() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      PeerAddress node = executor.endpoint().peer();
      NodeResponse before = reader.tell(node, new Renew(NodeResponse.NEVER, new int[0]));
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));

      reader.tell(node, new Renew(before, new int[0]));
      reader.tell(node, new Renew(NodeResponse.NEVER, new int[0]));
      reader.tell(node, new Renew(new NodeResponse("an earlier run", Long.MAX_VALUE), new int[0]));
      reader.tell(node, new RemoveShuffle(SHUFFLE + 1)); // runs after all of them
      assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @Test
  void aListOfLiveShufflesRemovesOlderShufflesThatItLacks() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    byte[] live = outputs.write(SHUFFLE + 1, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      PeerAddress node = executor.endpoint().peer();
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      executor.handOver(SHUFFLE + 1, 11, outputs.find(SHUFFLE + 1, 11));
      int[] list = {SHUFFLE + 1};
      NodeResponse after = reader.tell(node, new Renew(NodeResponse.NEVER, list));

      reader.tell(node, new Renew(after, list));
      reader.tell(node, new RemoveShuffle(SHUFFLE + 2)); // runs after it
      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/5-*");
      assertThat(reader.locate(node, SHUFFLE, 10)).isNull();
      assertThat(reader.read(node, SHUFFLE + 1, 11)).isEqualTo(live);
    }
  }

  @Test
  void handOversAfterTheApplicationsEndAreRefusedAndLeaveNothing() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      driver.tell(executor.endpoint().peer(), new EndApplication());
      awaitNone(APPLICATION);

      assertThatThrownBy(() -> executor.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11)))
          .hasMessageContaining("application app-1-ab has ended, as its driver reported");
      assertThat(folder(APPLICATION)).doesNotExist();
      assertThat(daemon.applications()).isEmpty();
    }
  }

  @Test
  void anApplicationThatIsOverLeavesNothing() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      driver.tell(executor.endpoint().peer(), new EndApplication());
      awaitNone(APPLICATION);
      assertThat(outputs.data(SHUFFLE, 10)).as("the executor's own file").exists();
    }
  }

  @Test
  void anApplicationThatTheClusterSaysIsOverLeavesNothing() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "10s"); // It looks every second then.
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      Files.createFile(folder(APPLICATION).resolve(".ended"));
      awaitNone(APPLICATION);
    }
  }

  @Test
  void anApplicationThatGivesNoSignGoesAndOneThatDoesStays() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "2s");
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeClient silent = enter(OTHER, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      silent.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
      PeerAddress node = executor.endpoint().peer();
      Poll.await(
          "the silent application is removed",
          WAIT,
          () -> {
            driver.tell(node, new Renew(NodeResponse.NEVER, new int[] {SHUFFLE}));
            return Files.notExists(folder(OTHER));
          });
      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(1_000);

      String before = silent.endpoint().peer().id();
      silent.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
      assertThat(metric(OTHER, NodeMetric.BYTES))
          .as("bytes after the application entered again")
          .isEqualTo(1_000);
      assertThat(new NodeResponse(silent.endpoint().peer().id(), 0).keeps(before)).isFalse();
    }
  }

  /** The first applications start threads that stay, such as the poller of virtual threads. */
  @Test
  void manyEndedApplicationsLeaveAsMuchAsAFew() throws Exception {
    set(NodeSettings.MAX_APPLICATIONS, "100");
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    comeAndGo(1, 3);
    awaitNone("app-3-ab");
    long descriptors = descriptors();
    comeAndGo(4, 20);
    awaitNone("app-20-ab");
    boolean isClosed = Poll.until(WAIT.toMillis(), () -> descriptors() <= descriptors);
    assertThat(isClosed).as("descriptors: %d before, %d now", descriptors, descriptors()).isTrue();
    assertThat(directory.resolve("node/.sluice")).isDirectoryNotContaining("glob:**/*app*");
  }

  private void comeAndGo(int first, int last) throws Exception {
    for (int i = first; i <= last; i++) {
      String application = "app-" + i + "-ab";
      try (NodeClient executor = enter(application, SECRET);
          NodeReader reader = new NodeReader(application, SECRET)) {
        executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
        reader.read(executor.endpoint().peer(), SHUFFLE, 10);
        reader.tell(executor.endpoint().peer(), new EndApplication());
      }
    }
  }

  private static long descriptors() throws IOException {
    try (var open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  @Test
  void anApplicationThatCannotBeServedAfterAStartGoesWhenNoPeerComesForIt() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "2s");
    start();
    int port;
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      port = executor.endpoint().peer().port();
    }
    daemon.close();
    set(NodeSettings.PORTS, port + "-" + port);
    try (ServerSocket others = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
      start();
      assertThat(others.isBound()).isTrue();
      assertThat(daemon.applications()).isEmpty();
      awaitNone(APPLICATION);
    }
  }
}
