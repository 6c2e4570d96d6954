// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Properties of this process from which Netty starts sooner, until {@link #close}. It reads them
 * when its first classes are loaded. On JDK 25 it would link native functions in place of Unsafe,
 * which takes two fifths of the time to open a reader. Properties that are set already stay. {@link
 * JobReader} makes and closes it while it opens its transport, on its thread.
 */
final class NettyStart implements AutoCloseable {
  /** The last release of Java that lets Unsafe access memory without an option. */
  private static final int LAST_WITH_UNSAFE = 25;

  private final Set<String> set = new HashSet<>();

  NettyStart() {
    Map<String, String> wanted =
        Runtime.version().feature() <= LAST_WITH_UNSAFE
            ? Map.of("io.netty.noUnsafe", "false", "io.netty.jfr.enabled", "false")
            : Map.of("io.netty.jfr.enabled", "false");
    wanted.forEach(
        (key, value) -> {
          if (System.getProperty(key) == null) {
            System.setProperty(key, value);
            set.add(key);
          }
        });
  }

  @Override
  public void close() {
    set.forEach(System::clearProperty);
  }
}
