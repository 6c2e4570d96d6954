// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.testkit.Directories;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command bin/bench stage: cost of staging, also with many peers or a slow disk. */
@Command(
    name = "stage",
    description = {
      "Measure staging of map outputs that are not registered",
      "Measures the CPU time of registering map outputs of 1, 16 and 256 MiB, compared with copying"
          + " them. On soft, also measures 63 peers of one server and, as root, 16 servers of which"
          + " one has a slow disk."
    })
public final class StageCommand implements Callable<Integer> {
  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 10;

  @Option(
      names = "--provider",
      paramLabel = "soft|verbs",
      description = "Provider of the READs (default: ${DEFAULT-VALUE})")
  private String provider = SoftProvider.NAME;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = Directories.ofRun("stage");
    List<String> problems = new ArrayList<>();
    Pairs pairs = new Pairs();
    try {
      comparison(directory, pairs);
      if (provider.equals(SoftProvider.NAME)) {
        try (StagePeers peers = new StagePeers(directory, rounds, pairs)) {
          peers.measure();
          problems.addAll(peers.problems());
        }
      }
      return output.write(pairs.comparisons(), problems);
    } finally {
      Directories.delete(directory);
    }
  }

  private void comparison(Path directory, Pairs pairs) throws IOException {
    try (Device device =
            Providers.open(
                provider,
                InetAddress.getLoopbackAddress(),
                VerbsOptions.DEFAULT,
                SoftOptions.DEFAULT);
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      new RegisterVersusCopy(domain, provider, rounds).measure(directory, pairs);
    }
  }
}
