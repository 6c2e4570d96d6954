// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/** Map outputs in a directory, written as Spark's resolver writes them. */
public final class TestMapOutputs {
  private final Path directory;

  public TestMapOutputs(Path directory) {
    this.directory = directory;
  }

  /** Returns their directory, with the form that is best if everything works. */
  public LocalDirectories directories() {
    return directories(RegistrationMethod.READ_ONLY_MAPPING);
  }

  public LocalDirectories directories(RegistrationMethod form) {
    return new LocalDirectories(Map.of(directory, form));
  }

  public Path data(int shuffleId, long mapId) {
    return directory.resolve("shuffle_%d_%d_0.data".formatted(shuffleId, mapId));
  }

  public Path index(int shuffleId, long mapId) {
    return directory.resolve("shuffle_%d_%d_0.index".formatted(shuffleId, mapId));
  }

  public Path checksums(int shuffleId, long mapId) {
    return directory.resolve("shuffle_%d_%d_0.checksum.CRC32C".formatted(shuffleId, mapId));
  }

  /** Writes a map output with random bytes, and returns its data. */
  public byte[] write(int shuffleId, long mapId, int... partitionBytes) throws IOException {
    int total = 0;
    ByteBuffer index = ByteBuffer.allocate((partitionBytes.length + 1) * Long.BYTES).putLong(0);
    for (int bytes : partitionBytes) {
      total += bytes;
      index.putLong(total);
    }
    byte[] data = new byte[total];
    new Random(31L * shuffleId + mapId).nextBytes(data);
    ByteBuffer checksums = ByteBuffer.allocate(partitionBytes.length * Long.BYTES);
    int offset = 0;
    for (int bytes : partitionBytes) {
      checksums.putLong(checksum(data, offset, bytes));
      offset += bytes;
    }
    if (total > 0) {
      Files.write(data(shuffleId, mapId), data);
    }
    Files.write(checksums(shuffleId, mapId), checksums.array());
    Files.write(index(shuffleId, mapId), index.array());
    return data;
  }

  public static long checksum(byte[] data, int offset, int length) {
    CRC32C checksum = new CRC32C();
    checksum.update(data, offset, length);
    return checksum.getValue();
  }

  public void delete(int shuffleId, long mapId) {
    try {
      Files.deleteIfExists(data(shuffleId, mapId));
      Files.deleteIfExists(index(shuffleId, mapId));
      Files.deleteIfExists(checksums(shuffleId, mapId));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Finds a map output's files; usable as {@link MapOutputFiles}. */
  public MapOutputFiles.Files find(int shuffleId, long mapId) {
    if (!Files.exists(index(shuffleId, mapId))) {
      return null;
    }
    Path checksums = checksums(shuffleId, mapId);
    return new MapOutputFiles.Files(
        data(shuffleId, mapId),
        index(shuffleId, mapId),
        Files.exists(checksums) ? checksums : null,
        ChecksumAlgorithm.CRC32C);
  }

  /** Number of mappings of these files in the process. */
  public long mappings() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(directory.toString())).count();
    }
  }

  /** Number of descriptors of these files in the process. */
  public long openFiles() throws IOException {
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(this::isOurs).count();
    }
  }

  private boolean isOurs(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(directory);
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  /** Number of bytes of these mappings that are not written to disk yet. */
  public long dirtyBytes() throws IOException {
    return mappedBytes(directory, "(Shared|Private)_Dirty:.*");
  }

  /** Number of bytes of a data file's mapping that are resident in this process. */
  public long residentBytes(int shuffleId, long mapId) throws IOException {
    return mappedBytes(data(shuffleId, mapId), "Rss:.*");
  }

  /** Sums up a value of smaps (proc(5)). */
  private static long mappedBytes(Path file, String kind) throws IOException {
    long kilobytes = 0;
    boolean ours = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-.*")) {
        ours = line.contains(file.toString());
      } else if (ours && line.matches(kind)) {
        kilobytes += Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    return kilobytes << 10;
  }

  /** Waits until the latch is counted down. */
  public static void await(CountDownLatch latch) {
    try {
      if (!latch.await(10, TimeUnit.SECONDS)) {
        throw new AssertionError("the latch was not counted down in time");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
