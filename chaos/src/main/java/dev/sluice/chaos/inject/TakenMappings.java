// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Takes the mappings that this process may still have by vm.max_map_count, and gives them back.
 * {@link ChaosBackends} has one; only the agent's thread uses it, and gives the mappings back at
 * the next order without the injection.
 */
final class TakenMappings {
  /** Mappings left for the JVM, such as for a few thread stacks. */
  private static final int LEFT = 10;

  private static final int PAGE_BYTES = 4096;

  private @Nullable Arena arena;

  /** Takes all mappings, or gives all back. */
  void take(boolean all) {
    if (all && arena == null) {
      arena = Arena.ofShared();
      try {
        takeAll(arena);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    } else if (!all && arena != null) {
      arena.close();
      arena = null;
    }
  }

  /** Maps one page of a file repeatedly: the kernel does not merge mappings of the same page. */
  private static void takeAll(Arena arena) throws IOException {
    Path file = Files.createTempFile("mapped", null);
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.READ);
        // A single read: a second read of a sysctl returns its end.
        BufferedReader sysctl = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count"));
        Stream<String> own = Files.lines(Path.of("/proc/self/maps"))) {
      channel.truncate(0).write(ByteBuffer.allocate(PAGE_BYTES));
      long limit = Long.parseLong(sysctl.readLine());
      for (long left = limit - own.count() - LEFT; left > 0; left--) {
        channel.map(MapMode.READ_ONLY, 0, PAGE_BYTES, arena);
      }
    } finally {
      Files.delete(file);
    }
  }
}
