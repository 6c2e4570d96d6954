// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CCompiler;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import dev.sluice.verbs.ffi.NeedsCHeader;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Registered memory survives forks. Spark forks an executor's process and executes Python workers
 * while READs go on. Without precautions, the first process that writes after a fork gets a copy of
 * the page, and the device keeps the original.
 */
@NeedsRdmaDevice
class IbvForkTest extends IbvTestCase {
  private static final int SEED = 27;

  /** Skips the test if the library marks pages: a child without exec then lacks the pages. */
  private static void assumeSafeWithoutMarks() throws Exception {
    assumeThat(IbvFork.status())
        .as("forks are safe without marks since kernel 5.12")
        .isEqualTo(CValue.of(IbvFork.Status.UNNEEDED));
  }

  @ParameterizedTest(name = "executes: {0}")
  @ValueSource(booleans = {false, true})
  @NeedsCHeader("sys/wait.h")
  void theDeviceKeepsTheParentsPages(boolean execute, @TempDir Path directory) throws Exception {
    assumeSafeWithoutMarks();
    Children children = new Children(directory);
    Pair pair = pair(IbvQp.Type.RC);
    Player client = pair.client();
    Player server = pair.server().fill(SEED);

    MemorySegment pipe = arena.allocate(2 * JAVA_INT.byteSize(), JAVA_INT.byteAlignment());
    int child = children.fork(server.memory, execute, pipe);
    try {
      client.succeed(read(pair));
      client.assertHolds(SEED, MEMORY_BYTES);

      server.fill(SEED + 1);
      client.succeed(read(pair));
      client.assertHolds(SEED + 1, MEMORY_BYTES);

      client.fill(SEED + 2);
      client.succeed(
          client
              .request(IbvSendWrList.Opcode.RDMA_WRITE, MEMORY_BYTES)
              .rdma(server.mr.address(), server.mr.rkey()));
      server.assertHolds(SEED + 2, MEMORY_BYTES);
    } finally {
      assertThat(children.end(child, pipe)).isZero();
    }
    server.assertHolds(SEED + 2, MEMORY_BYTES);
    client.succeed(read(pair));
    client.assertHolds(SEED + 2, MEMORY_BYTES);
  }

  private static IbvSendWrList read(Pair pair) {
    return pair.client()
        .request(IbvSendWrList.Opcode.RDMA_READ, MEMORY_BYTES)
        .rdma(pair.server().mr.address(), pair.server().mr.rkey());
  }

  /** The functions of {@code forks.c}. */
  private static final class Children {
    private final NativeFunction fork;
    private final NativeFunction end;

    Children(Path directory) throws Exception {
      NativeLibrary library;
      try (InputStream source = IbvForkTest.class.getResourceAsStream("forks.c")) {
        library =
            new CCompiler(directory)
                .library(new String(source.readAllBytes(), StandardCharsets.UTF_8));
      }
      fork =
          NativeFunction.exported(
              library,
              "int fork_child(ptr memory, long bytes, int execute, ptr pipe_ends)",
              Failure.MINUS_ONE_WITH_ERRNO);
      end = NativeFunction.exported(library, "int end_child(int pid, ptr pipe_ends)", Failure.NONE);
    }

    int fork(MemorySegment memory, boolean execute, MemorySegment pipe) throws VerbsException {
      return fork.call(memory, memory.byteSize(), execute ? 1 : 0, pipe);
    }

    int end(int child, MemorySegment pipe) throws VerbsException {
      return end.call(child, pipe);
    }
  }

  /** Runs in a separate process, which tells the library to mark pages, or not. */
  @ParameterizedTest(name = "by {0}, marks: {1}")
  @CsvSource({"FORK, false", "FORK, true", "POSIX_SPAWN, false", "POSIX_SPAWN, true"})
  void processesAreStartedWhileRegisteredMemoryIsRead(
      String mechanism, boolean marks, @TempDir Path directory) throws Exception {
    if (!marks) {
      assumeSafeWithoutMarks();
    }
    Path log = directory.resolve("log");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Djdk.lang.Process.launchMechanism=" + mechanism,
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    ReadingParent.class.getName(),
                    Boolean.toString(marks)))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("the process ends").isTrue();
      assertThat(log).content().contains(ReadingParent.DONE);
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
