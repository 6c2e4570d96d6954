// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BlockAccountTest {
  private static final List<String> OURS = List.of("dev.sluice.spark.RdmaShuffleManager");
  private static final Totals READ = new Totals(Map.of("read.blocks", 3L));
  private static final String SUITE = "RdmaShuffleSuite";

  @Test
  void blocksThatWereReadPass() {
    assertThatCode(() -> BlockAccount.check(SUITE, OURS, READ)).doesNotThrowAnyException();
  }

  @Test
  void anApplicationOnAnotherManagerFails() {
    List<String> managers = List.of(OURS.getFirst(), "SortShuffleManager");
    assertThatThrownBy(() -> BlockAccount.check(SUITE, managers, READ))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("SortShuffleManager");
  }

  @Test
  void aSuiteWithoutApplicationsFails() {
    assertThatThrownBy(() -> BlockAccount.check(SUITE, List.of(), READ))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aSuiteWithoutReadsFails() {
    assertThatThrownBy(() -> BlockAccount.check(SUITE, OURS, Totals.NONE))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("blocks READ");
  }

  @Test
  void aBlockBySparksOwnTransferFails() {
    Totals totals = READ.plus(new Totals(Map.of("fallback.blocks.CONNECT", 1L)));
    assertThatThrownBy(() -> BlockAccount.check(SUITE, OURS, totals))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("CONNECT");
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void everyDeviationIsDocumented(Deviation deviation) throws IOException {
    assertThat(Files.readAllLines(Path.of("../docs/dev/testing.md")))
        .anyMatch(line -> line.contains(deviation.suite()) && line.contains(deviation.reason()));
  }
}
