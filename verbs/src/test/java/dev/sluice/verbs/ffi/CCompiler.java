// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The C compiler, for tests that compare Java with C. Its output goes to a directory of the test,
 * which the test deletes.
 */
public final class CCompiler {
  private static final int TIMEOUT_S = 60;

  /** Compiler for the architecture in {@code os.arch}, which may differ from this machine's. */
  static final String FOR_OS_ARCH = compiler(System.getProperty("os.arch"));

  private static final Pattern ERROR_LINE = Pattern.compile("\\.c:(\\d+):.* error: .*");

  private final Path directory;

  public CCompiler(Path directory) {
    this.directory = directory;
  }

  /** True if there is a compiler that finds a header, such as {@code infiniband/verbs.h}. */
  static boolean finds(String header) throws IOException {
    try {
      return run(preprocess(CHeaders.INSTALLED, header)).status == 0;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).startsWith("Cannot run program")) {
        return false;
      }
      throw e;
    }
  }

  /** Returns a header with all its includes, without comments and macros. */
  static String preprocessed(CHeaders headers, String header) throws IOException {
    return checked(preprocess(headers, header).toArray(String[]::new));
  }

  private static List<String> preprocess(CHeaders headers, String header) {
    List<String> command = new ArrayList<>(List.of(FOR_OS_ARCH, "-E", "-P"));
    command.addAll(headers.options());
    command.addAll(List.of("-include", header, "-x", "c", "/dev/null"));
    return command;
  }

  /** Returns gcc if it compiles for a Java architecture, else the name of a cross compiler. */
  private static String compiler(String architecture) {
    String inC = architecture.equals("amd64") ? "x86_64" : architecture;
    try {
      return run(List.of("gcc", "-dumpmachine")).output.startsWith(inC)
          ? "gcc"
          : inC + "-linux-gnu-gcc";
    } catch (IOException e) {
      return "gcc";
    }
  }

  /**
   * Assembly of a source, or the lines with errors.
   *
   * @param wrongLines from 1; empty if there is assembly
   */
  record Assembly(String text, Set<Integer> wrongLines) {}

  /** Compiles a source for {@code os.arch} to assembly, so that it need not run here. */
  Assembly assembly(String source, CHeaders headers) throws IOException {
    Path file = Files.writeString(directory.resolve("source.c"), source);
    Path result = directory.resolve("source.s");
    List<String> command = new ArrayList<>(List.of(FOR_OS_ARCH, "-S"));
    command.addAll(headers.options());
    command.addAll(List.of("-o", result.toString(), file.toString()));
    Result compiled = run(command);
    if (compiled.status == 0) {
      return new Assembly(Files.readString(result), Set.of());
    }
    Set<Integer> wrong = new TreeSet<>();
    Matcher error = ERROR_LINE.matcher(compiled.output);
    while (error.find()) {
      wrong.add(Integer.valueOf(error.group(1)));
    }
    assertThat(wrong).as(compiled.output).isNotEmpty();
    return new Assembly("", wrong);
  }

  /** Compiles a shared library for this JVM. It can be loaded as long as its file exists. */
  public NativeLibrary library(String source, String... options) throws IOException {
    Path file = Files.writeString(directory.resolve("library.c"), source);
    Path library = directory.resolve("library.so");
    List<String> command =
        new ArrayList<>(List.of(FOR_OS_ARCH, "-Wall", "-Werror", "-O2", "-fPIC", "-shared"));
    command.addAll(CHeaders.INSTALLED.options());
    command.addAll(List.of(options));
    command.addAll(List.of("-o", library.toString(), file.toString()));
    checked(command.toArray(String[]::new));
    return new NativeLibrary(library.toString(), FOR_OS_ARCH);
  }

  static String checked(String... command) throws IOException {
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
