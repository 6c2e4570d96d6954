// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands info and devices print the same about a device as the C programs. */
@NeedsRdmaDevice
final class InfoInteropTest {
  @TempDir private Path directory;

  @Test
  void everyValueOfInfoEqualsThatOfIbvDevinfo() throws Exception {
    Map<String, List<String>> theirs;
    try (CProgram program = CProgram.start(directory, "ibv_devinfo", "-v")) {
      theirs = values(program.finished());
    }
    ToolRun run = ToolRun.finished("info", "-v");
    run.assertSuccess();
    Map<String, List<String>> ours = values(run.output());
    assertThat(ours).containsKeys("hca_id", "max_qp", "rc_odp_caps", "active_mtu", "GID[ 0]");
    theirs.keySet().retainAll(ours.keySet());
    ours.keySet().retainAll(theirs.keySet());
    assertThat(ours).hasSizeGreaterThan(70).isEqualTo(theirs);
  }

  @Test
  void theShortFormEqualsThatOfIbvDevinfo() throws Exception {
    try (CProgram program = CProgram.start(directory, "ibv_devinfo")) {
      ToolRun run = ToolRun.finished("info");
      run.assertSuccess();
      assertThat(values(run.output())).isEqualTo(values(program.finished()));
    }
  }

  @Test
  void devicesAreThoseOfIbvDevices() throws Exception {
    try (CProgram program = CProgram.start(directory, "ibv_devices")) {
      ToolRun run = ToolRun.finished("devices");
      run.assertSuccess();
      assertThat(run.output()).isEqualToNormalizingWhitespace(program.finished());
    }
  }

  @Test
  void anUnknownDeviceIsAFailureThatNamesIt() throws Exception {
    ToolRun run = ToolRun.finished("info", "no_such_device");
    assertThat(run.status()).isEqualTo(1);
    assertThat(run.errors()).contains("no_such_device").doesNotContain("\tat ");
  }

  /** Parses values by key, in order. Lines without a key are further values of the last key. */
  private static Map<String, List<String>> values(String output) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    String key = "";
    for (String line : output.lines().map(String::strip).filter(l -> !l.isEmpty()).toList()) {
      int end = line.replace("GID[", "GID ").indexOf(":\t");
      boolean heading = line.endsWith(":");
      if (end < 0 && !heading) {
        values.computeIfAbsent(key, k -> new ArrayList<>()).add(line);
        continue;
      }
      key = (heading ? line.substring(0, line.length() - 1) : line.substring(0, end));
      key = key.replaceAll("\\s+", " ");
      values
          .computeIfAbsent(key, k -> new ArrayList<>())
          .add(heading ? "" : line.substring(end + 1).strip());
    }
    return values;
  }
}
