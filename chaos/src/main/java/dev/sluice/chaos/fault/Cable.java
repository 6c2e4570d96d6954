// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.Commands;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Disturbs the cable between the two devices of the test bed's guest. {@link Faults} creates one
 * for each kind of damage. The driver's main thread strikes and heals. The command mends the cable
 * again when the driver has ended, or in a shutdown hook: a damaged cable outlives both processes.
 *
 * @param damage arguments of the test bed's command {@code cable}
 */
record Cable(List<String> damage) implements FaultAction, Fault.Setup {
  @Override
  public @Nullable String unavailable(String provider) {
    return !provider.equals("verbs")
            || System.getenv().getOrDefault("SLUICE_TESTBED", "native").equals("native")
        ? "it needs --provider verbs in a guest of bin/with-verbs, which has two connected devices"
        : null;
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of();
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    run(damage);
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    run(List.of("mend"));
  }

  @Override
  public void end(Path directory) throws IOException {
    run(List.of("mend"));
  }

  private static void run(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getenv("SLUICE_HOME"), "testbed/guest/cable").toString());
    command.addAll(arguments);
    Commands.run(command);
  }
}
