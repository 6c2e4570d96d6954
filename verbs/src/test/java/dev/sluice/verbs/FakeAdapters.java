// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import dev.sluice.verbs.ffi.CCompiler;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The simulated adapters mlx5_0 and mlx5_1 of {@code fake_ibverbs.c}. Each has one RoCE port, at
 * 10.0.0.1 and 10.0.0.2. The library has libibverbs' soname, and replaces the real library in a
 * process that loads it. These tests therefore have a JVM of their own ({@link OnFakeAdapters}).
 */
public final class FakeAdapters {
  private static FakeAdapters loaded;

  private final NativeLibrary library;

  private FakeAdapters(NativeLibrary library) {
    this.library = library;
  }

  /** Returns the adapters in their initial state. */
  public static synchronized FakeAdapters reset() throws IOException {
    if (loaded == null) {
      loaded = new FakeAdapters(load());
    }
    loaded.function("void fake_reset()").invoke();
    return loaded;
  }

  private static NativeLibrary load() throws IOException {
    Path directory = Files.createTempDirectory("fake-adapters");
    try {
      NativeLibrary library =
          new CCompiler(directory)
              .library(
                  source("fake_ibverbs.c") + source("fake_rdmacm.c"),
                  "-Wl,-soname,libibverbs.so.1");
      library.require();
      // This librdmacm is empty: its functions are in the library that it depends on.
      new CCompiler(Files.createDirectory(directory.resolve("rdmacm")))
          .library(
              "",
              "-Wl,-soname,librdmacm.so.1",
              "-Wl,--no-as-needed",
              directory.resolve("library.so").toString())
          .require();
      return library;
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  private static String source(String name) throws IOException {
    try (InputStream source = FakeAdapters.class.getResourceAsStream(name)) {
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private NativeFunction function(String declaration) {
    return NativeFunction.exported(library, declaration, Failure.NONE);
  }

  public void set(int adapter, String knob, long value) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      function("void fake_set(int adapter, ptr name, long value)")
          .invoke(adapter, CString.allocate(arena, knob), value);
    }
  }

  /** Reads a knob, or the number of calls of a function. */
  public long get(int adapter, String knob) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      return (long)
          function("long fake_get(int adapter, ptr name)")
              .invoke(adapter, CString.allocate(arena, knob));
    }
  }

  /**
   * Sets an entry of the GID table.
   *
   * @param address an IPv4 address, or {@code ::} for none
   */
  public void gid(int adapter, int index, IbvGidEntry.Type type, String address)
      throws VerbsException {
    byte[] gid = new byte[16];
    byte[] ip = IpLiteral.parse(address).getAddress();
    if (ip.length == 4) {
      gid[10] = gid[11] = (byte) 0xff;
      System.arraycopy(ip, 0, gid, 12, 4);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment raw = arena.allocate(gid.length).copyFrom(MemorySegment.ofArray(gid));
      function("void fake_gid(int adapter, int index, int type, ptr raw)")
          .invoke(adapter, index, type.value(), raw);
    }
  }

  /** Raises an event of the device, or of its port 1. */
  public void raise(int adapter, IbvAsyncEvent.Type type) throws VerbsException {
    raise(adapter, type, 0);
  }

  /** Raises an event of a queue pair. */
  public void raise(int adapter, IbvAsyncEvent.Type type, int qpNumber) throws VerbsException {
    raise(adapter, type.value(), qpNumber);
  }

  /** Raises an event by its number, such as an event of a later release. */
  public void raise(int adapter, int type, int qpNumber) throws VerbsException {
    function("void fake_event(int adapter, int type, int qp_number)")
        .invoke(adapter, type, qpNumber);
  }

  /** Announces a completion of the completion queue that was created last. */
  public void announce(int adapter) throws VerbsException {
    function("void fake_cq_event(int adapter)").invoke(adapter);
  }

  /** Raises an event of the id that listens for rdma_cm connections. */
  public void raiseByCm(int type) throws VerbsException {
    function("void fake_cm_event(int type)").invoke(type);
  }

  /** Completes the READs that were posted while the knob "hold" was on. */
  public void release() throws VerbsException {
    function("void fake_release()").invoke();
  }

  /** Removes the adapter, as a card or a virtual function can be removed. */
  public void remove(int adapter) throws VerbsException {
    function("void fake_remove(int adapter)").invoke(adapter);
  }
}
