package dev.sluice.benchmarks.registration;

import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Figure;
import dev.sluice.benchmarks.FigureOutput;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What it costs to make a map output a memory region: from asking for its location to having it,
 * with the hand-over to the registering thread, which a map task does not wait for.
 */
@Command(
    name = "registration",
    description = "Registers map outputs of 1, 16 and 256 MiB with 200 partitions")
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
          "Registrations of each size, after as many that do not count (default: ${DEFAULT-VALUE})")
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
      description = "Empty the machine's page cache before each registration, as root")
  private boolean cold;

  @Mixin private FigureOutput output;

  private final PrintStream out;

  public RegistrationCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() throws Exception {
    Path directory =
        RunDirectory.create(Installation.fromEnvironment().data().resolve("registration"));
    List<Figure> figures = new ArrayList<>();
    try (Device device =
        Providers.open(
            provider,
            InetAddress.getLoopbackAddress(),
            VerbsOptions.DEFAULT,
            SoftOptions.DEFAULT)) {
      List<MapOutputRegistry> registries = new ArrayList<>();
      for (int sizeMib : SIZES_MIB) {
        registries.add(registry(device, sizeMib, directory));
      }
      double[][] micros = measure(registries);
      for (int i = 0; i < SIZES_MIB.length; i++) {
        figures.add(Figure.of("register " + SIZES_MIB[i] + " MiB", "us", micros[i]));
      }
      registries.forEach(MapOutputRegistry::close);
    } finally {
      Directories.delete(directory);
    }
    output.write(out, figures);
    return 0;
  }

  /** All of whose map outputs are of one size. */
  private MapOutputRegistry registry(Device device, int sizeMib, Path directory)
      throws IOException {
    ProtectionDomain domain = device.allocateProtectionDomain();
    return new MapOutputRegistry(
        domain,
        LocalDirectories.probe(domain, mode, List.of(directory)),
        SampleMapOutput.write(directory, (long) sizeMib << 20, PARTITIONS),
        LIMITS,
        new Unpublished(),
        () -> System.nanoTime() / 1_000_000);
  }

  /** What is registered here nobody is told of. */
  private static final class Unpublished implements MapOutputListener {
    @Override
    public void registered(int shuffleId, MapOutputLocation location) {}

    @Override
    public void withdrawn(int shuffleId) {}
  }

  private double[][] measure(List<MapOutputRegistry> registries)
      throws ExecutionException, InterruptedException, IOException {
    double[][] micros = new double[registries.size()][rounds];
    for (int shuffle = 0; shuffle < 2 * rounds; shuffle++) {
      for (int i = 0; i < registries.size(); i++) {
        if (cold) {
          Files.writeString(DROP_CACHES, "1");
        }
        long nanos = register(registries.get(i), shuffle);
        if (shuffle >= rounds) {
          micros[i][shuffle - rounds] = nanos / 1e3;
        }
      }
    }
    return micros;
  }

  private static long register(MapOutputRegistry registry, int shuffle)
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
}
