package dev.sluice.benchmarks.chaos.inject;

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

/**
 * Takes the mappings that vm.max_map_count leaves to this process, and gives them back. Used by the
 * agent's thread.
 */
final class TakenMappings {
  /** What the JVM itself may need meanwhile: a few thread stacks. */
  private static final int LEFT = 10;

  private static final int PAGE_BYTES = 4096;

  private Arena arena;

  /** Takes all, or gives all back. */
  void take(boolean all) {
    if (all && arena == null) {
      arena = Arena.ofShared();
      try {
        takeAll();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    } else if (!all && arena != null) {
      arena.close();
      arena = null;
    }
  }

  /** One page of a file again and again: neighbours of the same page are not made one mapping. */
  private void takeAll() throws IOException {
    Path file = Files.createTempFile("mapped", null);
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.READ);
        // In one read: what a sysctl gives to a second one is its end.
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
