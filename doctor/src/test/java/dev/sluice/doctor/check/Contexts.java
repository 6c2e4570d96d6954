// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Parts of a {@link CheckContext} for tests. */
public final class Contexts {
  private Contexts() {}

  /** Returns a Spark that is not installed, with defaults. */
  public static CheckContext.Spark noSpark(Path root) {
    return spark(root, SparkSettings.NONE);
  }

  static CheckContext.Spark spark(Path root, SparkSettings settings) {
    return new CheckContext.Spark(List.of(), settings, conf(root, settings), Optional.empty());
  }

  static ExecutorConf conf(Path root, SparkSettings settings) {
    return new ExecutorConf(
        settings.accepted().values()::get, new ExecutorConf.Jvm(1L << 30, root, Map.of()));
  }
}
