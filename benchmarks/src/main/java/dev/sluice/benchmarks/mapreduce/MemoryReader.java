// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import dev.sluice.mapreduce.NodeReader;
import dev.sluice.mapreduce.RemotePartition;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A reader whose map outputs lie in the memory of the reduce tasks' process. It needs no network
 * and no other process, so a copy by it takes the time of Hadoop's scheduler and merger alone: no
 * transport can be faster. {@link MemoryHome} installs it in place of Sluice's reader. Any thread.
 */
public final class MemoryReader implements NodeReader {
  /** Setting: file with the folder of each map output in a line. */
  static final String FOLDERS = "sluice.mapreduce.folders";

  /** Bytes of a partition in an index: its start, its raw length and its length. */
  private static final int INDEX_ENTRY = 3 * Long.BYTES;

  /** Files of map outputs and their indexes, for all reduce tasks of the process. */
  private static final Map<Path, byte[]> FILES = new ConcurrentHashMap<>();

  private final List<String> folders;
  private final int partition;

  private MemoryReader(List<String> folders, int partition) {
    this.folders = folders;
    this.partition = partition;
  }

  /** Opens the reader. The plug-in finds it as a service. */
  public static final class Factory implements NodeReader.Factory {
    @Override
    public NodeReader open(
        String job, String secret, String reader, int partition, Map<String, String> settings) {
      return new MemoryReader(lines(Path.of(settings.get(FOLDERS))), partition);
    }
  }

  private static final class Partition extends RemotePartition {
    private final byte[] file;
    private final int start;

    Partition(long mapId, byte[] file, long start, long rawBytes, long bytes) {
      super(mapId, bytes, rawBytes);
      this.file = file;
      this.start = Math.toIntExact(start);
    }

    InputStream stream() {
      return new ByteArrayInputStream(file, start, Math.toIntExact(bytes()));
    }
  }

  @Override
  public List<RemotePartition> locate(String host, long[] mapIds) {
    return Arrays.stream(mapIds).mapToObj(this::partition).toList();
  }

  private RemotePartition partition(long mapId) {
    Path folder = Path.of(folders.get((int) (mapId >> Integer.SIZE)));
    LongBuffer entry =
        ByteBuffer.wrap(file(folder.resolve("file.out.index")))
            .position(partition * INDEX_ENTRY)
            .asLongBuffer();
    return new Partition(
        mapId, file(folder.resolve("file.out")), entry.get(), entry.get(), entry.get());
  }

  @Override
  public InputStream open(List<RemotePartition> wanted) {
    return new SequenceInputStream(
        Collections.enumeration(
            wanted.stream().map(Partition.class::cast).map(Partition::stream).toList()));
  }

  @Override
  public void close() {}

  private static List<String> lines(Path file) {
    return new String(file(file), StandardCharsets.UTF_8).lines().toList();
  }

  private static byte[] file(Path file) {
    return FILES.computeIfAbsent(
        file,
        path -> {
          try {
            return Files.readAllBytes(path);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
