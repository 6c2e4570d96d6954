// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final long NO_PROCESS = Long.MAX_VALUE;
  private static final long END_MS = 60_000;

  @TempDir private Path parent;

  @Test
  void directoriesOfEndedProcessesAreDeletedAndThoseOfRunningOnesKept() throws IOException {
    Path ended = Files.createDirectories(parent.resolve("run-" + NO_PROCESS).resolve("output"));
    Path running = Files.createDirectory(parent.resolve("run-1"));
    Path input = Files.createDirectory(parent.resolve("input-1g"));
    try (RunDirectory run = RunDirectory.in(parent, END_MS)) {
      assertThat(run.path()).isEmptyDirectory();
    }
    assertThat(ended).doesNotExist();
    assertThat(running).exists();
    assertThat(input).exists();
  }

  @Test
  void aFailureKeepsTheDirectory() throws IOException {
    RunDirectory run = RunDirectory.in(parent, END_MS);
    run.close();
    assertThat(run.path()).exists();
  }

  /** The signal ends its driver, too, and that is no failure. */
  @Test
  void anInterruptedCommandLeavesNoProcessAndNoFile() throws Exception {
    assertThat(interrupt("kill $!; wait; exit", END_MS)).noneMatch(ProcessHandle::isAlive);
    assertThat(parent).isEmptyDirectory();
  }

  /** A command that runs commands waits until they have deleted their files. */
  @Test
  void processesThatNeedTimeToEndGetIt() throws Exception {
    interrupt("sleep 1; kill $!; wait; echo >../ended; exit", END_MS);
    assertThat(parent.toFile().list()).containsExactly("ended");
  }

  @Test
  void processesThatTakeLongerAreKilled() throws Exception {
    interrupt("sleep 8; kill $!; wait; echo >../ended; exit", 1);
    assertThat(parent).isEmptyDirectory();
  }

  /** An executor may outlive its driver, and makes its folder for temporary files again. */
  @Test
  void processesWhoseDriverHasEndedAreWaitedFor() throws Exception {
    String executor = "%s -cp %s '%s\\$Executor' $PWD/temporary & exit";
    interrupt(
        executor.formatted(
            JAVA, System.getProperty("java.class.path"), RunDirectoryTest.class.getName()),
        END_MS);
    assertThat(Poll.until(4_000, () -> parent.toFile().list().length > 0)).isFalse();
  }

  /**
   * Interrupts a command while it runs, and waits for its end. Returns the processes that it had.
   *
   * @param trap commands of its driver at the signal
   */
  private List<ProcessHandle> interrupt(String trap, long endMs) throws Exception {
    Process command =
        new ProcessBuilder(
                "setsid",
                "env",
                "--default-signal=INT", // Background jobs of a shell ignore it, and so may this
                // JVM.
                JAVA,
                "-cp",
                System.getProperty("java.class.path"),
                Command.class.getName(),
                parent.toString(),
                trap,
                Long.toString(endMs))
            .redirectError(Redirect.INHERIT)
            .start();
    BufferedReader lines = command.inputReader();
    assertThat(lines.readLine()).isEqualTo("ready");
    List<ProcessHandle> children = command.descendants().toList();
    assertThat(children).hasSizeGreaterThanOrEqualTo(2);
    assertThat(parent).isNotEmptyDirectory();
    Commands.run(List.of("kill", "-INT", "--", "-" + command.pid())); // as a terminal does
    assertThat(command.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(lines.readLine()).isNull();
    return children;
  }

  /** An executor that makes its folder late. */
  static final class Executor {
    private Executor() {}

    public static void main(String[] arguments) throws Exception {
      TimeUnit.SECONDS.sleep(2);
      Files.createDirectories(Path.of(arguments[0]));
    }
  }

  /** A command with a driver, which has an executor and writes files. */
  static final class Command {
    private Command() {}

    public static void main(String[] arguments) throws Exception {
      try (RunDirectory run =
          RunDirectory.in(Path.of(arguments[0]), Long.parseLong(arguments[2]))) {
        String script =
            "cd %s; sleep 60 & trap \"%s\" INT;"
                + " while :; do echo x >$((i += 1)); sleep 0.01; done";
        ProcessBuilder driver =
            new ProcessBuilder("sh", "-c", script.formatted(run.path(), arguments[1]));
        try (AnsweringProcess process =
            new AnsweringProcess(driver.start(), reason -> new IOException(reason))) {
          Poll.until(60_000, () -> Files.exists(run.path().resolve("1")));
          System.out.println("ready");
          process.await();
        } catch (IOException e) {
          System.out.println("failed: " + e.getMessage());
        }
      }
    }
  }
}
