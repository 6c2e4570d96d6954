// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import static java.util.Objects.requireNonNull;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.commons.lang3.function.FailableFunction;

/**
 * Damages a few map output files while reduce tasks read, in place and for good, while executors
 * and peers may have them open. The driver's main thread strikes; nothing heals the files: Spark
 * writes lost map outputs again, or readers use another copy.
 */
final class FilesDamaged implements FaultAction {
  private static final int FILES = 3;

  /** Damage of one file. */
  @FunctionalInterface
  private interface Damage {
    void to(Path file, Random random) throws IOException;
  }

  private static final Map<String, Damage> KINDS =
      Map.of(
          "delete", FilesDamaged::delete,
          "truncate", FilesDamaged::truncate,
          "flip-byte", FilesDamaged::flipByte,
          "falsify-offset", FilesDamaged::falsifyOffset,
          "drop-from-cache", (file, _) -> Commands.dropFromCache(file));

  private final FailableFunction<Cluster, List<Path>, IOException> files;
  private final Damage damage;
  private int damaged;

  /**
   * @param kind kind of the damage
   */
  FilesDamaged(FailableFunction<Cluster, List<Path>, IOException> files, String kind) {
    this.files = files;
    this.damage = requireNonNull(KINDS.get(kind));
  }

  /**
   * Returns the index files of the node daemon. Executors have links to the same files, which must
   * stay intact, so each is replaced by a copy first.
   */
  static List<Path> nodeIndexes(Cluster cluster) throws IOException {
    Path folder = Path.of(cluster.setting("spark.local.dir"), ".sluice");
    List<Path> indexes = Directories.files(folder, "index"::equals);
    for (Path index : indexes) {
      try {
        Path copy = Files.copy(index, index.resolveSibling("copy"));
        Files.move(copy, index, StandardCopyOption.ATOMIC_MOVE);
      } catch (NoSuchFileException _) {
        // Its shuffle has just ended.
      }
    }
    return indexes;
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    List<Path> all = new ArrayList<>(files.apply(cluster));
    Collections.shuffle(all, random);
    damaged = 0;
    for (Path file : all.subList(0, Math.min(FILES, all.size()))) {
      if (Files.exists(file)) {
        damage.to(file, random);
        damaged++;
      }
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return inTime && damaged > 0;
  }

  static void delete(Path file, Random random) throws IOException {
    Files.deleteIfExists(file);
  }

  static void truncate(Path file, Random random) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(channel.size() / 2);
    }
  }

  static void flipByte(Path file, Random random) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() == 0) {
        return;
      }
      long position = random.nextLong(channel.size());
      ByteBuffer flipped = ByteBuffer.allocate(1);
      channel.read(flipped, position);
      flipped.put(0, (byte) (flipped.get(0) ^ 0x20)).rewind();
      channel.write(flipped, position);
    }
  }

  /** Replaces one offset of an index by an offset that no file reaches. */
  static void falsifyOffset(Path file, Random random) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      int offsets = (int) (channel.size() / Long.BYTES);
      ByteBuffer wrong = ByteBuffer.allocate(Long.BYTES).putLong(0, Long.MAX_VALUE / 2);
      channel.write(wrong, (long) random.nextInt(offsets) * Long.BYTES);
    }
  }
}
