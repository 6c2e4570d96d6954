package dev.sluice.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CCompiler;
import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeLibrary;
import dev.sluice.rdma.verbs.ibv.IbvEventType;
import dev.sluice.rdma.verbs.ibv.IbvGidType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The adapters mlx5_0 and mlx5_1 of {@code fake_ibverbs.c}, each with one RoCE port, at 10.0.0.1
 * and 10.0.0.2. The library has libibverbs' name, and once it is loaded the process gets it instead
 * of the real one: so these tests have a JVM of their own ({@link OnFakeAdapters}).
 */
public final class FakeAdapters {
  private static FakeAdapters loaded;

  private final NativeLibrary library;

  private FakeAdapters(NativeLibrary library) {
    this.library = library;
  }

  /** As new. */
  public static synchronized FakeAdapters reset() throws IOException {
    if (loaded == null) {
      loaded = new FakeAdapters(load());
    }
    loaded.function("fake_reset()", FunctionDescriptor.ofVoid()).invoke();
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
      // librdmacm has its functions in what it depends on.
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

  private NativeFunction function(String prototype, FunctionDescriptor descriptor) {
    return NativeFunction.exported(library, prototype, Failure.NONE, descriptor);
  }

  public void set(int adapter, String knob, long value) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      function(
              "fake_set(adapter, name, value)",
              FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_LONG))
          .invoke(adapter, arena.allocateFrom(knob), value);
    }
  }

  /** A knob, or how often a function was called. */
  public long get(int adapter, String knob) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      return (long)
          function("fake_get(adapter, name)", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS))
              .invoke(adapter, arena.allocateFrom(knob));
    }
  }

  /**
   * @param address an IPv4 address, or {@code ::} for none
   */
  void gid(int adapter, int index, IbvGidType type, String address) throws VerbsException {
    byte[] gid = new byte[16];
    byte[] ip = InetAddress.ofLiteral(address).getAddress();
    if (ip.length == 4) {
      gid[10] = gid[11] = (byte) 0xff;
      System.arraycopy(ip, 0, gid, 12, 4);
    }
    try (Arena arena = Arena.ofConfined()) {
      function(
              "fake_gid(adapter, index, type, raw)",
              FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS))
          .invoke(adapter, index, type.value(), arena.allocateFrom(JAVA_BYTE, gid));
    }
  }

  /** Of the device, or of its port 1. */
  void raise(int adapter, IbvEventType type) throws VerbsException {
    raise(adapter, type, 0);
  }

  /** Of a queue pair. */
  void raise(int adapter, IbvEventType type, int qpNumber) throws VerbsException {
    function(
            "fake_event(adapter, type, qp_number)",
            FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT))
        .invoke(adapter, type.value(), qpNumber);
  }

  /** Of the id that listens for connections by rdma_cm. */
  void raiseByCm(int type) throws VerbsException {
    function("fake_cm_event(type)", FunctionDescriptor.ofVoid(JAVA_INT)).invoke(type);
  }

  /** READs that were posted with the knob "hold" on succeed now. */
  void release() throws VerbsException {
    function("fake_release()", FunctionDescriptor.ofVoid()).invoke();
  }

  /** Takes the adapter out, as one can a card, or a virtual function. */
  void remove(int adapter) throws VerbsException {
    function("fake_remove(adapter)", FunctionDescriptor.ofVoid(JAVA_INT)).invoke(adapter);
  }
}
