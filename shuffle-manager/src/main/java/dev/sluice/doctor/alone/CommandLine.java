package dev.sluice.doctor.alone;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Limited;
import dev.sluice.doctor.Table;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.Checks;
import dev.sluice.doctor.check.Checkup;
import dev.sluice.doctor.check.Patient;
import dev.sluice.doctor.peer.PeerCheck;
import dev.sluice.doctor.peer.PeerServer;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** The doctor of one node, on a command line. */
public final class CommandLine {
  private static final Duration NODE_LIMIT = Duration.ofMinutes(1);

  private static final String HELP =
      """
      java -jar <this jar> doctor [option...]
        --peer HOST[:PORT]     READ from the node where a doctor serves
        --serve                let other nodes' doctors READ from this one
        --port PORT            TCP port of --serve (%d)
        --seconds N            how long --serve lasts (3600)
        --provider PROVIDER    auto, verbs or soft (auto)
        --local-dirs DIR,...   Spark's local directories (SPARK_LOCAL_DIRS, LOCAL_DIRS, else /tmp)
        --json                 print an array of objects
      Exit status: 0 where all is ok, 1 with a warning, 2 with a failure or wrong options.
      """
          .formatted(Options.DEFAULT_PORT);

  private CommandLine() {}

  /**
   * @param args the word doctor, and options
   */
  public static void main(String[] args) throws Exception {
    Options options;
    try {
      options = Options.parse(List.of(args).subList(1, args.length));
    } catch (IllegalArgumentException e) {
      System.err.print(e.getMessage() + "\n" + HELP);
      System.exit(Finding.Level.FAIL.ordinal());
      return;
    }
    if (options.help()) {
      System.out.print(HELP);
      return;
    }
    Table table = new Table();
    findings(options).forEach(table::add);
    System.out.print(options.json() ? table.json() : table.text());
    System.exit(table.exitStatus());
  }

  private static List<Finding> findings(Options options) throws InterruptedException {
    Patient patient;
    try {
      patient = Limited.call("node", NODE_LIMIT, () -> ThisNode.patient(options));
    } catch (ExecutionException | TimeoutException e) {
      return List.of(
          Finding.fail(
              "node",
              "its own address, or what is in SPARK_HOME: " + Finding.reason(e),
              "SPARK_LOCAL_IP, or the host's name in /etc/hosts; SPARK_HOME"));
    }
    return options.serves() ? serve(patient, options) : examine(patient, options);
  }

  private static List<Finding> examine(Patient patient, Options options)
      throws InterruptedException {
    List<Check> checks = new ArrayList<>(Checks.of(patient));
    options.peer().ifPresent(peer -> checks.add(new PeerCheck(patient, peer)));
    return new Checkup().of(checks);
  }

  /** What keeps it from serving; nothing once the time is over. */
  private static List<Finding> serve(Patient patient, Options options) throws InterruptedException {
    try (PeerServer server = PeerServer.open(patient, options.port())) {
      System.out.printf(
          "A doctor on another node READs from here with --peer HOST:%d (%s, for %d s)%n",
          server.port(), server.device(), options.seconds());
      Thread.sleep(Duration.ofSeconds(options.seconds()));
      return List.of();
    } catch (BindException e) {
      return List.of(
          Finding.fail("serve", "port " + options.port() + ": " + e.getMessage(), "--port"));
    } catch (IOException e) {
      return List.of(Finding.fail("serve", Finding.reason(e), Checkup.VERBS_DO_NOT_WORK));
    }
  }
}
