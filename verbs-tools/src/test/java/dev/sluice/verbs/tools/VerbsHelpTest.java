// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.PrintWriter;
import java.io.Writer;
import org.junit.jupiter.api.Test;

class VerbsHelpTest {
  @Test
  void helpFilesAreCurrent() throws Exception {
    PrintWriter none = new PrintWriter(Writer.nullWriter());
    HelpFiles.check(VerbsCommand.commandLine(none, none));
  }
}
