package dev.sluice.rdma.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The C compiler, for tests that hold Java to C. What it makes goes into a directory of the test,
 * who deletes it.
 */
public final class CCompiler {
  private static final int TIMEOUT_S = 60;

  private final Path directory;

  public CCompiler(Path directory) {
    this.directory = directory;
  }

  /** Whether there is a compiler that finds a header, such as {@code infiniband/verbs.h}. */
  static boolean finds(String header) throws IOException {
    try {
      return run(List.of("gcc", "-E", "-include", header, "-x", "c", "/dev/null")).status == 0;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).startsWith("Cannot run program")) {
        return false;
      }
      throw e;
    }
  }

  /** A header with all that it includes, without comments and macros. */
  static String preprocessed(String header) throws IOException {
    return checked("gcc", "-E", "-P", "-include", header, "-x", "c", "/dev/null");
  }

  /** Compiles a program and runs it: its output, line by line. */
  public List<String> outputOf(String source) throws IOException {
    Path program = compile(source, "program");
    return checked(program.toString()).lines().toList();
  }

  /** Compiles a shared library, which may be loaded while its file is there. */
  public NativeLibrary library(String source, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("-O2", "-fPIC", "-shared"));
    all.addAll(List.of(options));
    Path library = compile(source, "library.so", all.toArray(String[]::new));
    return new NativeLibrary(library.toString(), "gcc");
  }

  private Path compile(String source, String name, String... options) throws IOException {
    Path file = Files.writeString(directory.resolve(name + ".c"), source);
    Path result = directory.resolve(name);
    List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Werror"));
    command.addAll(List.of(options));
    command.addAll(List.of("-o", result.toString(), file.toString()));
    checked(command.toArray(String[]::new));
    return result;
  }

  private static String checked(String... command) throws IOException {
    Result result = run(List.of(command));
    assertThat(result.status).as(result.output).isZero();
    return result.output;
  }

  private record Result(int status, String output) {}

  private static Result run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
      return new Result(process.exitValue(), output);
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      process.destroyForcibly();
    }
  }
}
