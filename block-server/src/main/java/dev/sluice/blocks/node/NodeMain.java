package dev.sluice.blocks.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process of a node's block server: {@code bin/sluice-node [--conf FILE]}. Ends at SIGTERM
 * within its deadlines; may be killed at any time.
 */
public final class NodeMain {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMain.class);
  private static final String USAGE =
      """
      usage: sluice-node [--conf FILE]
      Keeps and serves the map outputs of this node's executors.
      Settings, in a file of key=value lines:

      """;

  private NodeMain() {}

  /** Exits with 2 for wrong arguments or settings, with 1 where it cannot start. */
  public static void main(String[] arguments) {
    List<String> given = List.of(arguments);
    if (given.contains("--help")) {
      System.out.print(USAGE + NodeSetting.help());
      return;
    }
    try {
      run(options(given));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    } catch (IOException e) {
      LOG.error("The node's block server does not start", e);
      System.err.println("sluice-node does not start: " + e);
      System.exit(1);
    }
  }

  private static NodeOptions options(List<String> arguments) throws IOException {
    if (arguments.isEmpty()) {
      return NodeOptions.of(Map.of());
    }
    if (arguments.size() == 2 && arguments.getFirst().equals("--conf")) {
      return NodeOptions.read(Path.of(arguments.getLast()));
    }
    throw new IllegalArgumentException(USAGE.lines().findFirst().orElseThrow());
  }

  private static void run(NodeOptions options) throws IOException {
    NodeDaemon daemon = NodeDaemon.start(options);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(daemon, options), "sluice-stop"));
  }

  private static void stop(NodeDaemon daemon, NodeOptions options) {
    if (options.drainTimeout().isPositive()) {
      daemon.drain(options.drainTimeout());
    }
    Thread.ofPlatform().daemon().name("sluice-stop-deadline").start(() -> haltAfter(options));
    daemon.close();
  }

  private static void haltAfter(NodeOptions options) {
    try {
      Thread.sleep(options.stopTimeout());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(1);
  }
}
