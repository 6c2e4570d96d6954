// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartedPartsTest {
  private final List<String> closed = new ArrayList<>();
  private final StartedParts parts = new StartedParts();

  private void start(String name) {
    parts.<AutoCloseable>started(() -> closed.add(name));
  }

  @Test
  void partsAreClosedInReverseOrderOfTheirStart() {
    start("first");
    start("second");
    parts.close();
    assertThat(closed).containsExactly("second", "first");
  }

  @Test
  void aFailureOfAPartLeavesNoOtherOpen() {
    start("first");
    parts.<AutoCloseable>started(
        () -> {
          throw new IOException("of the test");
        });
    start("third");
    parts.close();
    assertThat(closed).containsExactly("third", "first");
  }

  /** The cause may be a class that cannot be loaded any more while the process ends. */
  @Test
  void anErrorOfAPartLeavesNoOtherOpen() {
    start("first");
    parts.<AutoCloseable>started(
        () -> {
          throw new NoClassDefFoundError("of the test");
        });
    start("third");
    parts.close();
    assertThat(closed).containsExactly("third", "first");
  }
}
