// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Limited;
import dev.sluice.doctor.Main;
import dev.sluice.doctor.Options;
import dev.sluice.doctor.Table;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.CheckRunner;
import dev.sluice.doctor.check.Checks;
import dev.sluice.doctor.check.SparkSettings;
import dev.sluice.doctor.peer.PeerCheck;
import dev.sluice.doctor.peer.PeerServer;
import dev.sluice.doctor.qualify.QualifyCommand;
import dev.sluice.doctor.size.SizeCommand;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * The doctor of one node, on a command line: runs the checks and prints their findings, or serves
 * other doctors. {@link AloneLoader} loads it and calls it once, on the main thread. It ends the
 * process, as threads of calls that hang may be left.
 */
public final class CommandLine {
  /** Limit of a look at this node, which may ask a name server and list a remote directory. */
  private static final Duration NODE_LIMIT = Duration.ofMinutes(1);

  private CommandLine() {}

  /**
   * @param args the word doctor, then options that {@link Main} has checked, or the word size or
   *     qualify and its options
   */
  public static void main(String[] args) throws Exception {
    List<String> rest = List.of(args).subList(1, args.length);
    if (!rest.isEmpty() && rest.getFirst().equals(Main.SIZE)) {
      System.exit(SizeCommand.run(rest.subList(1, rest.size()), System.out, System.err));
    }
    if (!rest.isEmpty() && rest.getFirst().equals(Main.QUALIFY)) {
      System.exit(QualifyCommand.run(rest.subList(1, rest.size()), System.out, System.err));
    }
    Options options = Options.parse(rest);
    Table table = new Table();
    findings(options).forEach(table::add);
    System.out.print(options.json() ? table.json() : options.fix() ? table.fix() : table.text());
    System.exit(table.exitStatus());
  }

  private static List<Finding> findings(Options options) throws InterruptedException {
    SparkSettings settings;
    try {
      settings = Limited.call("settings", NODE_LIMIT, () -> ThisNode.settings(options));
    } catch (ExecutionException | TimeoutException e) {
      return List.of(
          Finding.fail(
              "settings",
              "cannot read Spark's settings: " + Finding.reason(e),
              "check --properties-file, or SPARK_CONF_DIR and SPARK_HOME"));
    }
    CheckContext context;
    try {
      context = Limited.call("node", NODE_LIMIT, () -> ThisNode.context(options, settings));
    } catch (ExecutionException | TimeoutException e) {
      return List.of(
          Finding.fail(
              "node",
              "cannot find out this node's address, or list SPARK_HOME: " + Finding.reason(e),
              "set SPARK_LOCAL_IP, or add the host's name to /etc/hosts; check SPARK_HOME"));
    }
    return options.serves() ? serve(context, options) : examine(context, options);
  }

  private static List<Finding> examine(CheckContext context, Options options)
      throws InterruptedException {
    List<Check> checks = new ArrayList<>(Checks.of(context));
    options
        .peer()
        .map(peer -> new PeerAddress(peer.text(), peer.host(), peer.port()))
        .ifPresent(peer -> checks.add(new PeerCheck(context, peer)));
    return new CheckRunner().of(checks);
  }

  /** Serves until the time is over. Returns findings that keep it from serving, else none. */
  private static List<Finding> serve(CheckContext context, Options options)
      throws InterruptedException {
    try (PeerServer server = PeerServer.open(context, options.port())) {
      // Standard output is for findings, which a program may read.
      System.err.printf(
          "To READ from here, run the doctor on another node with --peer HOST:%d (%s, for %d s)%n",
          server.port(), server.device(), options.seconds());
      Thread.sleep(Duration.ofSeconds(options.seconds()));
      return List.of();
    } catch (BindException e) {
      return List.of(
          Finding.fail(
              "serve", "port " + options.port() + ": " + e.getMessage(), "choose another --port"));
    } catch (IOException e) {
      return List.of(Finding.fail("serve", Finding.reason(e), CheckRunner.VERBS_DO_NOT_WORK));
    }
  }
}
