// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Process of a node daemon, started by {@code bin/sluice-node}. The main thread starts the {@link
 * NodeDaemon} and returns; a shutdown hook closes it. Ends at SIGTERM within its deadlines; may be
 * killed at any time.
 */
public final class NodeMain {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMain.class);

  /** Exit status if arguments or settings are wrong, or name resources that cannot be used. */
  private static final int CANNOT_START = 2;

  private static final String HELP =
      """
      Usage: sluice-node [OPTION ...] [KEY=VALUE ...]
      Keeps and serves the map outputs of this node's executors.
            --conf=FILE    Read settings from a file of key=value lines
            --supervised   End when standard input ends, which it does when the process that
                             started the daemon ends
            --check        Try settings, device, directories and ports, print the findings and
                             exit: 0 if the daemon can start, 1 if not
            --version      Show the version and exit
        -h, --help         Show this and exit
      Exits with status 2 if the daemon cannot start, and prints the reason to standard error.
      A setting given as an argument replaces the one in the file. Settings and their defaults:

      """;

  private NodeMain() {}

  /**
   * Starts the daemon. Exits with 2 if it cannot start, and prints the reason in one line. Exits
   * with 3 if an Error ends one of its threads. A supervisor then starts it again, with its folders
   * as before.
   */
  public static void main(String[] arguments) {
    Thread.setDefaultUncaughtExceptionHandler(NodeMain::failed);
    try {
      run(NodeArguments.parse(List.of(arguments)));
    } catch (IOException | IllegalArgumentException e) {
      LOG.debug("The node daemon cannot start", e);
      System.err.println("sluice-node: " + (e.getMessage() == null ? e : e.getMessage()));
      System.exit(CANNOT_START);
    }
  }

  private static void run(NodeArguments arguments) throws IOException {
    switch (arguments.action()) {
      case HELP -> System.out.print(help());
      case VERSION -> System.out.println(version());
      case CHECK -> System.exit(NodeCheck.of(arguments).print(System.out) ? 0 : 1);
      case RUN -> {
        start(arguments.options());
        if (arguments.isSupervised()) {
          Thread.ofPlatform().daemon().name("sluice-supervised").start(NodeMain::endWithInput);
        }
      }
    }
  }

  static String help() {
    return HELP + NodeSettings.help();
  }

  /** Returns version and commit of Sluice, from its jar; empty outside of a jar. */
  static Optional<String> buildVersion() {
    return Optional.ofNullable(NodeMain.class.getPackage().getImplementationVersion());
  }

  /** Returns the versions of Sluice, of the protocol and of Java. */
  static String version() {
    return "sluice-node %s, protocol %d and %d, Java %s"
        .formatted(
            buildVersion().orElse("unknown"),
            RegisterExecutor.VERSION,
            RegisterExecutor.PREVIOUS,
            Runtime.version());
  }

  private static void start(NodeOptions options) throws IOException {
    LOG.info("This is {}", version());
    NodePages.limitConnections();
    NodeDaemon daemon = NodeDaemon.start(options);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(daemon, options), "sluice-stop"));
  }

  /** After an exception a pool replaces its thread; after an Error the state is unknown. */
  private static void failed(Thread thread, Throwable failure) {
    try {
      LOG.error("Thread {} of the node daemon failed", thread.getName(), failure);
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
      LOG.debug("Reading standard input failed", e);
    }
    System.exit(0);
  }

  private static void stop(NodeDaemon daemon, NodeOptions options) {
    if (options.get(NodeSettings.DRAIN_TIMEOUT).isPositive()) {
      daemon.drain(options.get(NodeSettings.DRAIN_TIMEOUT));
    }
    Thread.ofPlatform().daemon().name("sluice-stop-deadline").start(() -> haltAfter(options));
    daemon.close();
  }

  private static void haltAfter(NodeOptions options) {
    try {
      Thread.sleep(options.get(NodeSettings.STOP_TIMEOUT));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(1);
  }
}
