// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Another version of Sluice: a folder with its drop-in jar and its node daemon, which {@code
 * testbed/sluice} makes.
 *
 * @param version version that its processes log
 * @param protocol version of the protocol between executors and node daemons
 */
record OtherVersion(Path home, String version, int protocol) {
  private static final Pattern VERSION =
      Pattern.compile("sluice-node (\\S+), protocol (\\d+) and \\d+, Java .*");

  /** Returns the version that option {@code other} of bin/test names; otherwise skips the test. */
  static OtherVersion given() throws IOException {
    String home = System.getProperty("sluice.other");
    assumeTrue(home != null, "no other version: option --other of bin/test");
    Path daemon = Path.of(home, "bin/sluice-node");
    Process process =
        new ProcessBuilder(daemon.toString(), "--version")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String printed =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    Matcher matcher = VERSION.matcher(printed);
    if (!matcher.matches()) {
      throw new IOException(daemon + " --version prints \"" + printed + "\"");
    }
    return new OtherVersion(Path.of(home), matcher.group(1), Integer.parseInt(matcher.group(2)));
  }

  /** The drop-in jar. */
  Path jar() {
    return home.resolve("sluice-spark.jar");
  }

  /** Returns true if its daemons take executors of this version. */
  boolean isOfThisProtocol() {
    return protocol == RegisterExecutor.VERSION;
  }
}
