// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SharedAttemptTest {
  private Executor threads = Runnable::run;
  private final SharedAttempt<String> attempt =
      new SharedAttempt<>(task -> this.threads.execute(task), () -> "done");

  @Test
  @Timeout(20)
  void withoutAThreadItFailsAndALaterCallTriesAgain() throws Exception {
    threads =
        _ -> {
          throw new OutOfMemoryError("thrown by a test: unable to create native thread");
        };
    for (int call = 0; call < 2; call++) {
      assertThatThrownBy(() -> attempt.get(_ -> true))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("unable to create native thread");
    }
    threads = Runnable::run;
    assertThat(attempt.get(_ -> true)).isEqualTo("done");
  }
}
