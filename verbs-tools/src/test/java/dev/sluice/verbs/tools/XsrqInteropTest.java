// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Refusals of a device without XRC, by the command and by the C program. */
@NeedsRdmaDevice
final class XsrqInteropTest {
  private static final String PROGRAM = "ibv_xsrq_pingpong";

  @TempDir private Path directory;

  @Test
  void bothProgramsRefuseADeviceWithoutXrc() throws Exception {
    Assumptions.assumeTrue(RdmaDevices.isSoftRoce(), "soft-RoCE has no XRC");
    ToolRun ours = ToolRun.finished("xsrq-pingpong");
    assertThat(ours.status()).isEqualTo(1);
    assertThat(ours.errors())
        .hasLineCount(1)
        .contains("does not support extended reliable connections");
    try (CProgram theirs = CProgram.start(directory, PROGRAM)) {
      assertThat(theirs.failed()).contains("Couldn't Open the XRC Domain");
    }
  }
}
