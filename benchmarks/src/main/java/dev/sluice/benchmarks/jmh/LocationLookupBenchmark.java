package dev.sluice.benchmarks.jmh;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.spark.locate.Broadcasts;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.LocatorClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Where one of 100,000 map outputs can be READ, in the executor's copy of the driver's table,
 * beside a HashMap of ready objects.
 */
@State(Scope.Thread)
public class LocationLookupBenchmark {
  private static final int MAPS = 100_000;
  private static final int SHUFFLE = 0;
  private static final String EXECUTOR = "7";

  /** Far from the one before in the table, as the blocks of a reducer are not, to be strict. */
  private static final int STEP = 7919;

  private final Map<Long, MapOutputLocation> plain = new HashMap<>();
  private final long[] mapId = new long[1];
  private LocatorClient locator;

  @Setup
  public void publish() throws IOException {
    LocationDirectory directory =
        new LocationDirectory(new Unused(), Long.MAX_VALUE, _ -> true, _ -> {});
    List<Published> outputs = new ArrayList<>();
    for (long id = 0; id < MAPS; id++) {
      MapOutputLocation location =
          new MapOutputLocation(
              id,
              new RemoteRegion(id << 20, 1000, (int) id),
              new RemoteRegion(id << 30, 160, (int) id),
              ChecksumAlgorithm.CRC32C);
      outputs.add(new Published(SHUFFLE, location));
      plain.put(id, location);
    }
    directory.handle(new Publish(new ExecutorEndpoint(EXECUTOR, "host", 4000, "soft"), outputs));
    locator =
        new LocatorClient(
            new LocatorClient.Services(
                "soft",
                directory::handle,
                new Unused(),
                (_, _, _) -> CompletableFuture.failedFuture(new IOException("nobody there")),
                Runnable::run,
                60_000,
                _ -> {},
                System::nanoTime));
    locator.locate(SHUFFLE, EXECUTOR, mapId).join();
  }

  private long nextMapId() {
    mapId[0] = (mapId[0] + STEP) % MAPS;
    return mapId[0];
  }

  @Benchmark
  public MapOutputLocation locate() {
    nextMapId();
    return locator.locate(SHUFFLE, EXECUTOR, mapId).join().outputs()[0];
  }

  @Benchmark
  public MapOutputLocation locateBaseline() {
    return plain.get(nextMapId());
  }

  /** The table is small enough to do without. */
  private static final class Unused implements Broadcasts {
    @Override
    public Shipped ship(byte[] bytes) throws IOException {
      throw new IOException("no broadcast is expected");
    }

    @Override
    public byte[] fetch(byte[] handle) throws IOException {
      throw new IOException("no broadcast is expected");
    }
  }
}
