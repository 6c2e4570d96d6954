// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeviationTest {

  @ParameterizedTest
  @EnumSource
  void everyDeviationIsDocumented(Deviation deviation) throws IOException {
    assertThat(Files.readAllLines(Path.of("../docs/dev/testing.md")))
        .anyMatch(line -> line.contains(deviation.name()) && line.contains(deviation.text()));
  }
}
