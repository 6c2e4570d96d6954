// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.verbs.tools.HelpFiles;
import org.junit.jupiter.api.Test;

class NodeHelpTest {
  @Test
  void helpFileIsCurrent() throws Exception {
    HelpFiles.check(NodeMain.help(), "sluice-node");
  }
}
