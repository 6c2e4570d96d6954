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
 * The cable between the two devices of the test bed's guest. A test that breaks it has to mend it.
 * Networks of other machines are left alone.
 */
final class Cable {
  /** Marks a test that breaks the cable. */
  @EnabledIfEnvironmentVariable(
      named = "SLUICE_TESTBED",
      matches = "uml|qemu",
      disabledReason = "only in a guest of the test bed is there a cable to break")
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  @interface Needed {}

  private static final String COMMAND = "../testbed/guest/cable";

  /** Loses this percentage of the packets silently. */
  void lose(int percent) throws IOException, InterruptedException {
    run("lose", Integer.toString(percent));
  }

  /** Takes both ends down, which everyone is notified of. */
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
