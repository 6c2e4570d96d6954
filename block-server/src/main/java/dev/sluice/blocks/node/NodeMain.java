package dev.sluice.blocks.node;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process of a node's block server: {@code bin/sluice-node [--conf FILE] [KEY=VALUE ...]}. Ends
 * at SIGTERM within its deadlines; may be killed at any time.
 */
public final class NodeMain {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMain.class);
  private static final String USAGE =
      """
      usage: sluice-node [--conf FILE] [--supervised] [KEY=VALUE ...]
      Keeps and serves the map outputs of this node's executors; when supervised, until its standard
      input ends, as it does when the process ends that has started it.
      Settings, in a file of key=value lines; what is an argument counts, whatever the file says:

      """;

  private NodeMain() {}

  /**
   * Exits with 2 for wrong arguments or settings, with 1 where it cannot start, and with 3 where an
   * Error ends a thread of it: its supervisor starts it again, and its folders are as they were.
   */
  public static void main(String[] arguments) {
    Thread.setDefaultUncaughtExceptionHandler(NodeMain::failed);
    List<String> given = new ArrayList<>(List.of(arguments));
    boolean supervised = given.remove("--supervised");
    if (given.contains("--help")) {
      System.out.print(USAGE + NodeSetting.help());
      return;
    }
    try {
      run(options(given));
      if (supervised) {
        Thread.ofPlatform().daemon().name("sluice-supervised").start(NodeMain::endWithInput);
      }
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    } catch (IOException e) {
      LOG.error("The node's block server does not start", e);
      System.err.println("sluice-node does not start: " + e);
      System.exit(1);
    }
  }

  /** Of what a file says that all nodes have, and of this node's own. */
  static NodeOptions options(List<String> arguments) throws IOException {
    boolean hasFile = arguments.size() >= 2 && arguments.getFirst().equals("--conf");
    Map<String, String> values = new HashMap<>();
    if (hasFile) {
      values.putAll(NodeOptions.read(Path.of(arguments.get(1))));
    }
    for (String argument : arguments.subList(hasFile ? 2 : 0, arguments.size())) {
      int equals = argument.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException(USAGE.lines().findFirst().orElseThrow());
      }
      values.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
    return NodeOptions.of(values);
  }

  private static void run(NodeOptions options) throws IOException {
    NodeDaemon daemon = NodeDaemon.start(options);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(daemon, options), "sluice-stop"));
  }

  /** A pool replaces its thread after an exception; after an Error nobody knows what is left. */
  private static void failed(Thread thread, Throwable failure) {
    try {
      LOG.error("The thread {} of the node's block server fails", thread.getName(), failure);
    } finally {
      if (failure instanceof Error) {
        Runtime.getRuntime().halt(3);
      }
    }
  }

  private static void endWithInput() {
    try {
      System.in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      LOG.debug("Standard input has failed", e);
    }
    System.exit(0);
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
