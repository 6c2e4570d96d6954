// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A disk that hangs waits for {@link #answer}. */
class NodeDisksTest {
  private static final Path GOOD = Path.of("/good/.sluice");
  private static final Path HANGING = Path.of("/hanging/.sluice");

  private final CountDownLatch answer = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();

  @AfterEach
  void end() {
    answer.countDown();
  }

  private Path ask(Path root) throws IOException {
    if (root.equals(HANGING)) {
      asked.incrementAndGet();
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    return root;
  }

  @Test
  @Timeout(60)
  void aDiskThatHungIsUsedAgainOnceItHasAnswered() throws Exception {
    NodeDisks disks = new NodeDisks(List.of(HANGING, GOOD));
    assertThat(disks.onEach("a test", this::ask)).containsExactly(GOOD);
    assertThat(disks.answering()).containsExactly(GOOD);
    assertThat(disks.onEach("a test", this::ask)).containsExactly(GOOD);
    assertThat(asked).hasValue(1);

    answer.countDown();
    while (disks.answering().size() < 2) {
      Thread.onSpinWait();
    }
    assertThat(disks.onEach("a test", this::ask)).containsExactly(HANGING, GOOD);
  }

  @Test
  @Timeout(60)
  void whereAllHangNoMoreThreadsWaitForThem() {
    NodeDisks disks = new NodeDisks(List.of(HANGING));
    for (int attempt = 0; attempt < 3; attempt++) {
      assertThatThrownBy(() -> disks.onEach("a test", this::ask))
          .hasMessageContaining(HANGING + " does not answer");
    }
    assertThat(asked).hasValue(1);
  }
}
