package dev.sluice.benchmarks.postpoll;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** The functions of {@code post_poll.c}, compiled by gcc when they are needed. */
final class CLoops {
  private final NativeLibrary library;
  private final NativeFunction post;
  private final NativeFunction poll;

  private CLoops(NativeLibrary library) {
    this.library = library;
    post = function("post(qp, count)", FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_INT));
    poll =
        function(
            "poll(cq, num_entries, count)",
            FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT));
  }

  /**
   * Compiles them.
   *
   * @param directory where source and library go, for as long as they are used
   * @throws ProviderUnavailableException where there is no gcc, or no verbs.h
   */
  static CLoops compile(Path directory)
      throws IOException, InterruptedException, ProviderUnavailableException {
    Path source = directory.resolve("post_poll.c");
    Path library = directory.resolve("post_poll.so");
    try (InputStream resource = CLoops.class.getResourceAsStream("post_poll.c")) {
      Files.copy(resource, source);
    }
    ProcessBuilder gcc =
        new ProcessBuilder(
            "gcc", "-O2", "-fPIC", "-shared", "-o", library.toString(), source.toString());
    if (start(gcc).waitFor() != 0) {
      throw unavailable();
    }
    return new CLoops(new NativeLibrary(library.toString(), "gcc"));
  }

  private static Process start(ProcessBuilder gcc) throws ProviderUnavailableException {
    try {
      return gcc.inheritIO().start();
    } catch (IOException e) {
      throw unavailable();
    }
  }

  private static ProviderUnavailableException unavailable() {
    return new ProviderUnavailableException(
        "there is no gcc that finds infiniband/verbs.h: install gcc libibverbs-dev"
            + " (Debian, Ubuntu) or gcc rdma-core-devel (Fedora, RHEL)");
  }

  private NativeFunction function(String prototype, FunctionDescriptor descriptor) {
    return NativeFunction.exported(library, prototype, Failure.NONE, descriptor);
  }

  /** An object of the fake device. */
  MemorySegment get(String name) throws VerbsException {
    return function("get_" + name + "()", FunctionDescriptor.of(ADDRESS)).callForPointer();
  }

  /** Nanoseconds of so many posts. */
  long post(MemorySegment qp, int count) throws VerbsException {
    return (long) post.invoke(qp, count);
  }

  /** Nanoseconds of so many polls. */
  long poll(MemorySegment cq, int entries, int count) throws VerbsException {
    return (long) poll.invoke(cq, entries, count);
  }
}
