// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With the default settings, a server may be away for less than two minutes. */
final class NodeAwayLongIT {
  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(ints = {30, 60, 110})
  void mapTasksWait(int seconds) throws Exception {
    NodeAwayIT.assertMapTasksWait(directory, Duration.ofSeconds(seconds));
  }

  @ParameterizedTest
  @ValueSource(ints = {30, 60, 110})
  void readersWait(int seconds) throws Exception {
    NodeAwayIT.assertReadersWait(directory, Duration.ofSeconds(seconds));
  }
}
