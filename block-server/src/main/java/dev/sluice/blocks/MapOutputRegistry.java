package dev.sluice.blocks;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The map outputs of this process as memory regions. */
public final class MapOutputRegistry implements AutoCloseable {
  /** Bytes of one partition range in a data file. */
  public record Segment(java.nio.file.Path file, long offset, long length) {}

  /** A committed map output: registers it soon, on the registry's own thread. Never blocks. */
  public void add(int shuffleId, long mapId) {
    throw new UnsupportedOperationException();
  }

  /**
   * Locations of map outputs that a reader could not find in the driver's table: waits for, or
   * performs, their registration.
   *
   * @return one element a map id, null for what cannot be registered
   */
  public CompletableFuture<List<MapOutputLocation>> resolve(int shuffleId, long[] mapIds) {
    throw new UnsupportedOperationException();
  }

  /**
   * Where partitions [start, end) lie in a registered map output's file; null when not registered.
   */
  public Segment segment(int shuffleId, long mapId, int startPartition, int endPartition) {
    throw new UnsupportedOperationException();
  }

  /** Readers use the shuffle: it is not idle. */
  public void touch(int shuffleId) {
    throw new UnsupportedOperationException();
  }

  /** The map output's files are replaced or deleted: its region is deregistered. */
  public void invalidate(int shuffleId, long mapId) {
    throw new UnsupportedOperationException();
  }

  /** Fences and deregisters the shuffle before its files are deleted. */
  public void unregister(int shuffleId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
