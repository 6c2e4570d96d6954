package dev.sluice.doctor.alone;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Table;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.Checks;
import dev.sluice.doctor.check.Checkup;
import dev.sluice.doctor.check.Patient;
import dev.sluice.doctor.peer.PeerCheck;
import dev.sluice.doctor.peer.PeerServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The doctor of one node, on a command line. */
public final class CommandLine {
  private static final Duration CHECK_LIMIT = Duration.ofSeconds(60);

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
    } else if (options.serves()) {
      serve(options);
    } else {
      System.exit(examine(options));
    }
  }

  private static int examine(Options options) throws IOException, InterruptedException {
    Patient patient = ThisNode.patient(options);
    List<Check> checks = new ArrayList<>(Checks.of(patient));
    options.peer().ifPresent(peer -> checks.add(new PeerCheck(patient, peer)));
    Table table = new Table();
    new Checkup(CHECK_LIMIT).of(checks).forEach(table::add);
    System.out.print(options.json() ? table.json() : table.text());
    return table.exitStatus();
  }

  private static void serve(Options options) throws IOException, InterruptedException {
    try (PeerServer server = new PeerServer(ThisNode.patient(options), options.port())) {
      System.out.printf(
          "A doctor on another node READs from here with --peer HOST:%d (%s, for %d s)%n",
          server.port(), server.device(), options.seconds());
      Thread.sleep(Duration.ofSeconds(options.seconds()));
    }
  }
}
