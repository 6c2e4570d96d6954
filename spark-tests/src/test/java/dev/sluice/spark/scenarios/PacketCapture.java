// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Captures all packets on the loopback interface by tcpdump, if that is installed and permitted.
 * The caller that starts it closes it. For one thread.
 */
final class PacketCapture implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  private final Process tcpdump;
  private final Path file;
  private final Path messages;
  private final String failure;

  private PacketCapture(Process tcpdump, Path file, Path messages, String failure) {
    this.tcpdump = tcpdump;
    this.file = file;
    this.messages = messages;
    this.failure = failure;
  }

  /** Returns once packets are captured, or cannot be. */
  static PacketCapture start(Path file) throws IOException, InterruptedException {
    Path messages = file.resolveSibling(file.getFileName() + ".log");
    Process tcpdump;
    try {
      tcpdump =
          new ProcessBuilder(
                  "tcpdump",
                  "-i",
                  "lo",
                  "-U",
                  "-s",
                  "0",
                  "-B",
                  "65536",
                  "-Z",
                  "root",
                  "-w",
                  file.toString(),
                  "tcp")
              .redirectError(messages.toFile())
              .start();
    } catch (IOException e) {
      return new PacketCapture(null, file, messages, "tcpdump is not installed");
    }
    PacketCapture capture = new PacketCapture(tcpdump, file, messages, null);
    capture.awaitListening();
    return capture;
  }

  boolean isRunning() {
    return tcpdump != null && tcpdump.isAlive();
  }

  /** The reason that it does not run. */
  String whyNot() {
    return failure != null ? failure : "tcpdump is not permitted: " + messages();
  }

  /** Ends the capture and counts where {@code bytes} were seen. */
  long stopAndCount(byte[] bytes) throws IOException, InterruptedException {
    tcpdump.destroy();
    if (!tcpdump.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("tcpdump has not ended in " + STOP_TIMEOUT);
    }
    // One character a byte makes a search for text a search for bytes.
    String captured = Files.readString(file, StandardCharsets.ISO_8859_1);
    String wanted = new String(bytes, StandardCharsets.ISO_8859_1);
    long count = 0;
    for (int at = captured.indexOf(wanted); at >= 0; at = captured.indexOf(wanted, at + 1)) {
      count++;
    }
    return count;
  }

  @Override
  public void close() throws IOException {
    if (tcpdump != null) {
      tcpdump.destroyForcibly();
    }
    Files.deleteIfExists(file);
  }

  private void awaitListening() throws InterruptedException {
    long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
    while (tcpdump.isAlive()
        && !messages().contains("listening on")
        && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private String messages() {
    try {
      return Files.exists(messages) ? Files.readString(messages) : "";
    } catch (IOException e) {
      return e.toString();
    }
  }
}
