package dev.sluice.benchmarks.engine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.benchmarks.Commands;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * An adapter of the tests' {@code fake_ibverbs.c}, which is faster than any memory, as this
 * process's libibverbs: it must not have loaded another one. It takes no thread: READs are due at a
 * time, and come to who polls. One thread; what it opens is its callers' to close.
 */
final class FakeAdapter {
  /** Its number among them. */
  private static final int ADAPTER = 0;

  private static final String NAME = "mlx5_0";

  private static final String SOURCE =
      "rdma-net/src/test/resources/dev/sluice/rdma/verbs/fake_ibverbs.c";
  private static final String NEEDED =
      "a C compiler and rdma-core's headers are needed to make an adapter of memory (Debian,"
          + " Ubuntu: gcc libibverbs-dev)";

  /** From a READ's posting to its completion, as on a NIC within a rack. */
  private static final long LATENCY_NANOS = 5_000;

  private static final int CALIBRATION_READS = 1 << 20;

  private final Path directory;
  private final NativeLibrary library;

  private FakeAdapter(Path directory, NativeLibrary library) throws VerbsException {
    this.directory = directory;
    this.library = library;
    function("fake_reset()", FunctionDescriptor.ofVoid()).invoke();
    set("latency_ns", LATENCY_NANOS);
  }

  /**
   * @param home the checkout that has the source
   * @param directory for what is made, the caller's to delete
   * @throws ProviderUnavailableException where there is no C compiler, or no header of rdma-core
   */
  static FakeAdapter load(Path home, Path directory) throws IOException {
    Path made = directory.resolve("libibverbs.so.1");
    compile(home.resolve(SOURCE), made);
    NativeLibrary library = new NativeLibrary(made.toString(), "gcc");
    library.require();
    Files.createDirectories(directory.resolve("sys/class/infiniband").resolve(NAME));
    return new FakeAdapter(directory, library);
  }

  private static void compile(Path source, Path library) throws ProviderUnavailableException {
    try {
      Commands.run(
          List.of(
              "gcc",
              "-O2",
              "-fPIC",
              "-shared",
              "-Wl,-soname," + library.getFileName(),
              "-o",
              library.toString(),
              source.toString()));
    } catch (IOException e) {
      throw new ProviderUnavailableException(NEEDED + ": " + e.getMessage());
    }
  }

  Device open() throws IOException {
    VerbsOptions options = VerbsOptions.DEFAULT.with(o -> o.devices = DeviceFilter.parse(NAME));
    return new VerbsProvider(options, directory).open(InetAddress.getLoopbackAddress());
  }

  /**
   * While nothing is READ.
   *
   * @param gigabits a second; 0 for no limit
   */
  void link(int gigabits) throws VerbsException {
    set("gigabits", gigabits);
  }

  /**
   * Nanoseconds of CPU time that the adapter itself takes for a READ, as calls of C that post and
   * poll so many at a time; while nothing is READ.
   */
  double nanosOfRead(int chain) throws VerbsException {
    long picoseconds =
        (long)
            function(
                    "fake_cost(adapter, chain, reads)",
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT))
                .invoke(ADAPTER, chain, CALIBRATION_READS);
    return picoseconds / 1e3;
  }

  private void set(String knob, long value) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      function(
              "fake_set(adapter, name, value)",
              FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_LONG))
          .invoke(ADAPTER, arena.allocateFrom(knob), value);
    }
  }

  private NativeFunction function(String prototype, FunctionDescriptor descriptor) {
    return NativeFunction.exported(library, prototype, Failure.NONE, descriptor);
  }
}
