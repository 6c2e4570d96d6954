// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.executor.ReadingRuntime.FreePort;
import java.io.IOException;
import java.net.BindException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreePortTest {
  private final List<Integer> tried = new ArrayList<>();

  @Test
  void aTakenPortIsFollowedByTheNext() throws IOException {
    assertThat(FreePort.<Integer>listen(7390, 16, takenUpTo(7392))).isEqualTo(7393);
    assertThat(tried).containsExactly(7390, 7391, 7392, 7393);
  }

  @Test
  void failsAfterTheRetries() {
    assertThatThrownBy(() -> FreePort.<Integer>listen(7390, 2, takenUpTo(9999)))
        .isInstanceOf(IOException.class)
        .hasMessage("None of 3 ports from 7390 on is free");
    assertThat(tried).containsExactly(7390, 7391, 7392);
  }

  @Test
  void anyPortIsAskedForOnce() throws IOException {
    assertThat(FreePort.<Integer>listen(0, 16, takenUpTo(-1))).isZero();
    assertThatThrownBy(() -> FreePort.<Integer>listen(0, 16, takenUpTo(0)))
        .isInstanceOf(IOException.class);
    assertThat(tried).containsExactly(0, 0);
  }

  @Test
  void otherFailuresAreNotRetried() {
    assertThatThrownBy(
            () ->
                FreePort.listen(
                    7390,
                    16,
                    port -> {
                      tried.add(port);
                      throw new IllegalArgumentException("no such address");
                    }))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(tried).containsExactly(7390);
  }

  private FreePort.Service<Integer> takenUpTo(int last) {
    return port -> {
      tried.add(port);
      if (port <= last) {
        throw new BindException("Address already in use");
      }
      return port;
    };
  }
}
