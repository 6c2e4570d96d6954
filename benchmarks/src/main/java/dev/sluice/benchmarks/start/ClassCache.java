// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.start;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * Kind of file from which the JVMs of executors take their classes; docs/tuning.md is for its
 * users. A value of an option of {@link StartCommand}. Immutable.
 */
enum ClassCache {
  /** Also has profiles of methods; JDK 25 and newer. */
  AOT("-XX:AOTCacheOutput=", "-XX:AOTMode=on -XX:AOTCache="),
  ARCHIVE("-XX:ArchiveClassesAtExit=", "-Xshare:on -XX:SharedArchiveFile=");

  private final String writing;
  private final String using;

  /**
   * @param writing option of the JVM that writes the file when it ends
   * @param using options of JVMs that use the file, and do not start if they cannot
   */
  ClassCache(String writing, String using) {
    this.writing = writing;
    this.using = using;
  }

  /** Returns the prefix of the rows about it. */
  String row() {
    return "start-" + name().toLowerCase(Locale.ROOT);
  }

  String writing(Path file) {
    return writing + file;
  }

  /** Returns Spark's setting for executors that use the file. */
  Map<String, String> using(Path file) {
    return Map.of("spark.executor.extraJavaOptions", using + file);
  }
}
