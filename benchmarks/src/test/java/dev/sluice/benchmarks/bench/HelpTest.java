// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.verbs.tools.HelpFiles;
import org.junit.jupiter.api.Test;

/**
 * Tests the help that the commands under bin show and the options that they check before a build.
 */
class HelpTest {
  @Test
  void helpFilesAreCurrent() throws Exception {
    HelpFiles.check(BenchCommand.commandLine());
    HelpFiles.check(TeraSortCommand.alone());
  }
}
