// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.DocumentBlock;
import dev.sluice.testkit.Usage;
import dev.sluice.verbs.tools.HelpFiles;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChaosCommandTest {
  private final StringWriter errors = new StringWriter();

  private int execute(String... arguments) {
    return Usage.of(ChaosCommand.alone()).setErr(new PrintWriter(errors, true)).execute(arguments);
  }

  @Test
  void anUnknownFaultIsOneLine() {
    assertThat(execute("--faults", "nosuch")).isEqualTo(2);
    assertThat(errors.toString().lines()).singleElement().asString().contains("'nosuch'");
  }

  @Test
  void anUnknownWorkloadIsOneLine() {
    assertThat(execute("--workloads", "nosuch")).isEqualTo(2);
    assertThat(errors.toString().lines()).singleElement().asString().contains("'nosuch'");
  }

  @Test
  void helpFileIsCurrent() throws Exception {
    HelpFiles.check(ChaosCommand.alone());
  }

  @Test
  void optionsInTheDocumentsAreThoseOfTheCommand() throws Exception {
    List<DocumentBlock.Command> commands = DocumentBlock.commands("bin/chaos");
    assertThat(commands).isNotEmpty();
    for (DocumentBlock.Command command : commands) {
      assertThat(ChaosCommand.alone().parseArgs(command.arguments()).errors())
          .as("%s: %s", command.block(), command.line())
          .isEmpty();
    }
  }
}
