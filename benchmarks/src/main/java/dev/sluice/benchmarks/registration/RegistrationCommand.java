package dev.sluice.benchmarks.registration;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.wire.MapOutputLocation;
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
import java.util.concurrent.ExecutionException;
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
  private static final RegistryLimits LIMITS = new RegistryLimits(1L << 34, 10_000, 60_000, false);

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

  /** A map output of one size, under any shuffle id, with microseconds of the rounds. */
  private record Sample(
      int sizeMib,
      Path data,
      MapOutputRegistry registry,
      double[] registeredMicros,
      double[] readMicros) {}

  @Override
  public Integer call() throws Exception {
    Path directory =
        RunDirectory.create(Installation.fromEnvironment().data().resolve("registration"));
    List<Sample> samples = new ArrayList<>();
    try (Device device =
        Providers.open(
            provider,
            InetAddress.getLoopbackAddress(),
            VerbsOptions.DEFAULT,
            SoftOptions.DEFAULT)) {
      for (int sizeMib : SIZES_MIB) {
        samples.add(sample(device, sizeMib, directory));
      }
      for (int round = -rounds; round < rounds; round++) {
        for (Sample sample : samples) {
          measure(sample, round);
        }
      }
      samples.forEach(sample -> sample.registry().close());
    } finally {
      Directories.delete(directory);
    }
    return output.write(samples.stream().map(this::row).toList());
  }

  private Sample sample(Device device, int sizeMib, Path directory) throws IOException {
    ProtectionDomain domain = device.allocateProtectionDomain();
    MapOutputFiles files = SampleMapOutput.write(directory, (long) sizeMib << 20, PARTITIONS);
    MapOutputRegistry registry =
        new MapOutputRegistry(
            domain,
            LocalDirectories.probe(domain, mode, List.of(directory)),
            files,
            LIMITS,
            new Unpublished(),
            () -> System.nanoTime() / 1_000_000);
    Path data = files.find(0, MAP_ID[0]).data();
    return new Sample(sizeMib, data, registry, new double[rounds], new double[rounds]);
  }

  /** What is registered here nobody is told of. */
  private static final class Unpublished implements MapOutputListener {
    @Override
    public void registered(int shuffleId, MapOutputLocation location) {}

    @Override
    public void withdrawn(int shuffleId) {}
  }

  /** Rounds below 0 warm up. */
  private void measure(Sample sample, int round)
      throws ExecutionException, InterruptedException, IOException {
    emptyPageCache();
    double registered = registerNanos(sample.registry(), rounds + round) / 1e3;
    emptyPageCache();
    double read = readNanos(sample.data()) / 1e3;
    if (round >= 0) {
      sample.registeredMicros()[round] = registered;
      sample.readMicros()[round] = read;
    }
  }

  private void emptyPageCache() throws IOException {
    if (cold) {
      Files.writeString(DROP_CACHES, "1");
    }
  }

  private static long registerNanos(MapOutputRegistry registry, int shuffle)
      throws ExecutionException, InterruptedException {
    long start = System.nanoTime();
    boolean registered = !registry.resolve(shuffle, MAP_ID).get().contains(null);
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

  private Comparison row(Sample sample) {
    String form = mode == RegistrationMode.AUTO ? "" : "-" + mode.name().toLowerCase(Locale.ROOT);
    String name =
        "registration-%s%s-%dMiB%s"
            .formatted(provider, form, sample.sizeMib(), cold ? "-cold" : "");
    return new Comparison(
        name, "us", Better.LESS, sample.registeredMicros(), "read-once", sample.readMicros(), null);
  }
}
