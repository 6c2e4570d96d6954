package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The cable between the two devices of the test bed's guest suffers for a while. */
final class CableFault extends Fault {
  private final List<String> damage;
  private final long lastsMs;

  /**
   * @param damage arguments of the test bed's command {@code cable}
   */
  CableFault(String name, String what, long lastsMs, String... damage) {
    super(name, what, Moment.REDUCE);
    this.damage = List.of(damage);
    this.lastsMs = lastsMs;
  }

  @Override
  public String unavailable(String provider) {
    return !provider.equals("verbs")
            || System.getenv().getOrDefault("SLUICE_TESTBED", "native").equals("native")
        ? "only in a guest of the test bed are there two devices at a cable (bin/with-verbs)"
        : null;
  }

  @Override
  public String cluster() {
    return "cable";
  }

  /** Both devices are used, so that there is something on the cable. */
  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of("spark.shuffle.rdma.devices", "rxe0,rxe1");
  }

  @Override
  public long lastsMs() {
    return lastsMs;
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    cable(damage);
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    cable(List.of("mend"));
  }

  @Override
  public void end(Path directory) throws IOException {
    cable(List.of("mend"));
  }

  private static void cable(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getenv("SLUICE_HOME"), "testbed/guest/cable").toString());
    command.addAll(arguments);
    Commands.run(command);
  }
}
