package dev.sluice.benchmarks.oracle;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The map outputs that an executor has opened, its own and those of others. Kept by map task id,
 * which an application uses only once. Any thread.
 */
final class MapOutputs {
  private final Map<Integer, Map<Long, MapOutput>> byShuffle = new ConcurrentHashMap<>();

  /** Opens a map output that nobody has asked for yet. */
  interface Opener {
    MapOutput open() throws IOException;
  }

  MapOutput get(int shuffleId, long mapId, Opener opener) throws IOException {
    Map<Long, MapOutput> outputs =
        byShuffle.computeIfAbsent(shuffleId, _ -> new ConcurrentHashMap<>());
    try {
      return outputs.computeIfAbsent(mapId, _ -> open(opener));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static MapOutput open(Opener opener) {
    try {
      return opener.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void forget(int shuffleId) {
    byShuffle.remove(shuffleId);
  }
}
