package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.node.NodeDaemon;
import dev.sluice.blocks.node.NodeOptions;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An executor whose node's block server is started again, and which hands nothing over any more.
 */
class NodeRefreshTest {
  @TempDir private Path directory;
  private final List<PeerAddress> published = new ArrayList<>();

  private NodeDaemon startNode() throws IOException {
    return NodeDaemon.start(
        NodeOptions.of(
            Map.of(
                "sluice.node.directories", directory.toString(),
                "sluice.node.socket", socket().toString(),
                "sluice.node.host", "127.0.0.1",
                "sluice.node.ports", "0",
                "sluice.node.provider", "soft",
                "sluice.node.http", "")));
  }

  private Path socket() {
    return directory.resolve("node.sock");
  }

  private DirectoryMessage publish(DirectoryMessage message) {
    published.add(((Publish) message).endpoint().peer());
    return message;
  }

  private NodeHandOver enter() throws IOException {
    NodeHandOver entered =
        new NodeHandOver(
            new NodeAccess("ab", socket(), Duration.ofSeconds(20), true),
            new ProcessName("app-1-ab", "3"),
            "soft",
            new SluiceRuntime.Environment(
                new SparkConf(false),
                new SluiceRuntime.Executor("3", "127.0.0.1", 1),
                new SluiceRuntime.Network(null, List.of(), List.of(), "", null),
                this::publish,
                null,
                (_, _) -> null,
                List.of()),
            new ShuffleCounters());
    entered.expect();
    return entered;
  }

  @Test
  void itPublishesWhereTheNodeIsThen() throws Exception {
    NodeDaemon first = startNode();
    try (NodeHandOver handOver = enter()) {
      handOver.refresh();
      assertThat(published).hasSize(1);
      PeerAddress before = published.getFirst();
      first.close();
      try (ServerSocket _ = new ServerSocket(before.port(), 1, InetAddress.getByName("127.0.0.1"));
          NodeDaemon _ = startNode()) {
        handOver.refresh();
        assertThat(published).hasSize(2);
        assertThat(published.getLast().id()).isNotEqualTo(before.id());
        assertThat(published.getLast().port()).isNotEqualTo(before.port());
      }
    } finally {
      first.close();
    }
  }
}
