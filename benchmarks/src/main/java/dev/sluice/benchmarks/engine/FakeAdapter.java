// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.engine;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.testkit.Commands;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Loads the tests' {@code fake_ibverbs.c} as this process's libibverbs; the process must not have
 * loaded another one. {@link EngineCommand} and {@code ReadLoopCommand} load it once and set it up
 * on their thread. Its adapter completes READs faster than memory could be copied: unless {@link
 * #completeAtOnce} is called, it copies no bytes. It has no thread: a READ becomes due at a time,
 * and the next poll after that completes it. The caller of an open method closes its result.
 */
public final class FakeAdapter {
  /** Index of the adapter in the library. */
  private static final int ADAPTER = 0;

  private static final String NAME = "mlx5_0";

  private static final String SOURCE = "verbs/src/test/resources/dev/sluice/verbs/fake_ibverbs.c";
  private static final String NEEDED =
      "the simulated adapter needs gcc and rdma-core's headers (Debian, Ubuntu: apt-get install"
          + " gcc libibverbs-dev)";

  /** Time from posting to completing a READ, as on a NIC within a rack. */
  private static final long LATENCY_NANOS = 5_000;

  /** Number of READs to measure the adapter itself, which takes a fraction of a second. */
  private static final int CALIBRATION_READS = 1 << 20;

  private final Path directory;
  private final NativeLibrary library;

  private FakeAdapter(Path directory, NativeLibrary library) throws VerbsException {
    this.directory = directory;
    this.library = library;
    function("void fake_reset()").invoke();
    set("latency_ns", LATENCY_NANOS);
  }

  /**
   * @param home the checkout that has the source
   * @param directory directory for generated files, which the caller deletes
   * @throws ProviderUnavailableException if there is no C compiler or no header of rdma-core
   */
  public static FakeAdapter load(Path home, Path directory) throws IOException {
    Path made = directory.resolve("libibverbs.so.1");
    compile(home.resolve(SOURCE), made);
    NativeLibrary library = new NativeLibrary(made.toString(), "gcc");
    library.require();
    Files.createDirectories(directory.resolve("sys/class/infiniband").resolve(NAME));
    return new FakeAdapter(directory, library);
  }

  /**
   * Compiles a shared library with gcc -O2; its soname is its file name.
   *
   * @throws ProviderUnavailableException if there is no C compiler or no header of rdma-core
   */
  public static void compile(Path source, Path library) throws ProviderUnavailableException {
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

  /** Completes each READ at posting, and copies its bytes; call it before opening the adapter. */
  public void completeAtOnce() throws VerbsException {
    set("latency_ns", 0);
  }

  /** Opens the adapter without a provider. */
  public IbvContext openContext() throws IOException {
    try (IbvDeviceList devices = IbvDeviceList.get()) {
      return devices.find(NAME).orElseThrow().open();
    }
  }

  Device open() throws IOException {
    VerbsOptions options = VerbsOptions.DEFAULT.with(o -> o.devices = DeviceFilter.parse(NAME));
    return new VerbsProvider(options, directory).open(InetAddress.getLoopbackAddress());
  }

  /**
   * Sets the speed of the link. Call it only while there are no READs.
   *
   * @param gigabits Gb/s; 0 for no limit
   */
  void link(int gigabits) throws VerbsException {
    set("gigabits", gigabits);
  }

  /**
   * Returns the CPU nanoseconds of the adapter itself for a READ, if C code posts and polls so many
   * at a time. Call it only while there are no READs.
   */
  double nanosOfRead(int chain) throws VerbsException {
    long picoseconds =
        (long)
            function("long fake_cost(int adapter, int chain, int reads)")
                .invoke(ADAPTER, chain, CALIBRATION_READS);
    return picoseconds / 1e3;
  }

  private void set(String knob, long value) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      function("void fake_set(int adapter, ptr name, long value)")
          .invoke(ADAPTER, CString.allocate(arena, knob), value);
    }
  }

  private NativeFunction function(String declaration) {
    return NativeFunction.exported(library, declaration, Failure.NONE);
  }
}
