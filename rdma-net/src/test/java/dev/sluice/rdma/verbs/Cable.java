package dev.sluice.rdma.verbs;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * The cable between the two devices of the test bed's guest, which a test may break: whoever does
 * mends it. Another machine's network is left alone.
 */
final class Cable {
  /** A test that breaks the cable. */
  @EnabledIfEnvironmentVariable(
      named = "SLUICE_TESTBED",
      matches = "uml|qemu",
      disabledReason = "only in a guest of the test bed is there a cable to break")
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  @interface Needed {}

  private static final String COMMAND = "../testbed/guest/cable";

  /** So many of a hundred packets are lost, which nobody is told of. */
  void lose(int percent) throws IOException, InterruptedException {
    run("lose", Integer.toString(percent));
  }

  /** Both ends are down, which everybody is told of. */
  void cut() throws IOException, InterruptedException {
    run("cut");
  }

  void mend() throws IOException, InterruptedException {
    run("mend");
  }

  private static void run(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder command = new ProcessBuilder(COMMAND);
    command.command().addAll(List.of(arguments));
    Process process = command.redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (process.waitFor() != 0) {
      throw new IOException(command.command() + ": " + output);
    }
  }
}
