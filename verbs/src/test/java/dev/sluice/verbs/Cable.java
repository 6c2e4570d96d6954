// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * The cable between the two devices of the test bed's guest. A test that breaks it mends it. It
 * does nothing to another machine's network.
 */
public final class Cable {
  /** A test that breaks the cable, or needs both of its ends. */
  @EnabledIfEnvironmentVariable(
      named = "SLUICE_TESTBED",
      matches = "uml|qemu",
      disabledReason = "only in a guest of the test bed are there two devices at a cable")
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.TYPE, ElementType.METHOD})
  public @interface Needed {}

  /** Fault of the cable. */
  public enum Fault {
    /** No packet arrives any more, and nothing reports it. */
    SILENT("lose", "100"),
    /** Some packets do not arrive. */
    LOSSY("lose", "1"),
    /** Both ends report that they are down. */
    CUT("cut"),
    /** No packet of the first device arrives any more. */
    ONE_WAY("one-way"),
    /** No large packet of the first device arrives. */
    SWALLOWING("swallow"),
    /** The second device takes smaller packets than the first. */
    NARROW("narrow"),
    /** The second device is gone. */
    REMOVED("remove");

    private final List<String> arguments;

    Fault(String... arguments) {
      this.arguments = List.of(arguments);
    }
  }

  public void suffer(Fault fault) throws IOException, InterruptedException {
    run(fault.arguments);
  }

  /** Loses this percentage of the packets, and nothing reports it. */
  public void lose(int percent) throws IOException, InterruptedException {
    run(List.of("lose", Integer.toString(percent)));
  }

  public void mend() throws IOException, InterruptedException {
    run(List.of("mend"));
  }

  private static void run(List<String> arguments) throws IOException, InterruptedException {
    ProcessBuilder command = new ProcessBuilder(command().toString());
    command.command().addAll(arguments);
    Process process = command.redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (process.waitFor() != 0) {
      throw new IOException(command.command() + ": " + output);
    }
  }

  /** Finds the test bed's command from a module's folder, or from a folder below its target. */
  private static Path command() throws IOException {
    Path here = Path.of("").toAbsolutePath();
    for (Path folder = here; folder != null; folder = folder.getParent()) {
      Path command = folder.resolve("testbed/guest/cable");
      if (Files.exists(command)) {
        return command;
      }
    }
    throw new IOException("No folder above " + here + " has testbed/guest/cable");
  }
}
