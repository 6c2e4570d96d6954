package dev.sluice.benchmarks.registration;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.Turns;
import dev.sluice.benchmarks.Unpublished;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What it costs to make a map output a memory region, beside reading its file once: from asking for
 * its location to having it, with the hand-over to the registering thread, which a map task does
 * not wait for.
 */
@Command(
    name = "registration",
    description = {
      "Registers map outputs, beside reading their files once",
      "Map outputs of 1, 16 and 256 MiB with 200 partitions."
    })
public final class RegistrationCommand implements Callable<Integer> {
  private static final int[] SIZES_MIB = {1, 16, 256};
  private static final int PARTITIONS = 200;
  private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");
  private static final long[] MAP_ID = {0};
  private static final RegistryLimits LIMITS =
      new RegistryLimits(1L << 34, 0, 10_000, 60_000, false);

  @Option(
      names = "--rounds",
      defaultValue = "50",
      description =
          "Measurements of each size, after as many that do not count (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--provider",
      defaultValue = SoftProvider.NAME,
      description = "soft or verbs (default: ${DEFAULT-VALUE})")
  private String provider;

  @Option(
      names = "--mode",
      defaultValue = "AUTO",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  private RegistrationMode mode;

  @Option(
      names = "--cold",
      description = "Empty the machine's page cache before each measurement, as root")
  private boolean cold;

  @Mixin private ComparisonOutput output;

  private final ByteBuffer chunk = ByteBuffer.allocateDirect(1 << 20);

  /** One thing to do with a map output. */
  private interface Work {
    /** Microseconds that it takes. */
    double micros(int round) throws IOException;
  }

  @Override
  public Integer call() throws Exception {
    Path directory = RunDirectory.of("registration");
    try (Device device =
        Providers.open(
            provider,
            InetAddress.getLoopbackAddress(),
            VerbsOptions.DEFAULT,
            SoftOptions.DEFAULT)) {
      return output.write(measure(device, directory));
    } finally {
      Directories.delete(directory);
    }
  }

  private List<Comparison> measure(Device device, Path directory)
      throws IOException, InterruptedException {
    List<MapOutputRegistry> registries = new ArrayList<>();
    List<Work> works = new ArrayList<>();
    try {
      for (int sizeMib : SIZES_MIB) {
        MapOutputFiles files = SampleMapOutput.write(directory, (long) sizeMib << 20, PARTITIONS);
        MapOutputRegistry registry = registry(device, files, directory);
        registries.add(registry);
        Path data = files.find(0, MAP_ID[0]).data();
        works.add(round -> registerNanos(registry, rounds + round) / 1e3);
        works.add(_ -> readNanos(data) / 1e3);
      }
      return rows(works);
    } finally {
      registries.forEach(MapOutputRegistry::close);
    }
  }

  private MapOutputRegistry registry(Device device, MapOutputFiles files, Path directory)
      throws IOException {
    ProtectionDomain domain = device.allocateProtectionDomain();
    return new MapOutputRegistry(
        domain,
        LocalDirectories.probe(domain, mode, List.of(directory)),
        files,
        LIMITS,
        new Unpublished(),
        () -> System.nanoTime() / 1_000_000);
  }

  /**
   * @param works registering and reading, size by size
   */
  private List<Comparison> rows(List<Work> works) throws IOException, InterruptedException {
    double[][] micros =
        Turns.measure(
            works,
            rounds,
            rounds,
            (work, round) -> {
              emptyPageCache();
              return work.micros(round);
            });
    String form = mode == RegistrationMode.AUTO ? "" : "-" + mode.name().toLowerCase(Locale.ROOT);
    List<Comparison> rows = new ArrayList<>();
    for (int sizeMib : SIZES_MIB) {
      String name =
          "registration-%s%s-%dMiB%s".formatted(provider, form, sizeMib, cold ? "-cold" : "");
      int at = 2 * rows.size();
      rows.add(Comparison.less(name, "us", micros[at], "read-once", micros[at + 1]));
    }
    return rows;
  }

  private void emptyPageCache() throws IOException {
    if (cold) {
      Files.writeString(DROP_CACHES, "1");
    }
  }

  /**
   * @param shuffle any that was not registered before
   */
  private static long registerNanos(MapOutputRegistry registry, int shuffle) {
    long start = System.nanoTime();
    boolean registered = !registry.resolve(shuffle, MAP_ID).join().contains(null);
    long nanos = System.nanoTime() - start;
    if (!registered) {
      throw new IllegalStateException("a map output was not registered");
    }
    registry.unregister(shuffle);
    return nanos;
  }

  private long readNanos(Path data) throws IOException {
    long start = System.nanoTime();
    try (FileChannel channel = FileChannel.open(data)) {
      while (channel.read(chunk.clear()) >= 0) {}
    }
    return System.nanoTime() - start;
  }
}
