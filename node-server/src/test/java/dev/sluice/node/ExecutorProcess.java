// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.ExecutorFolders;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Executor in a process of its own: hands one map output over, and lives on. */
final class ExecutorProcess implements AutoCloseable {
  static final ProcessName NAME = new ProcessName("app-1-ab", "3");
  static final String SECRET = "of the application";
  static final int SHUFFLE = 5;
  static final long MAP_ID = 10;

  private static final String HANDED_OVER = "handed over to ";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final NodeClient.Limits LIMITS = new NodeClient.Limits(TIMEOUT, TIMEOUT);

  private final Process process;
  private final PeerAddress node;

  private ExecutorProcess(Process process, PeerAddress node) {
    this.process = process;
    this.node = node;
  }

  /**
   * Starts it, and waits until it has handed over.
   *
   * @param outputs directory of the map output
   */
  static ExecutorProcess start(Path socket, Path outputs) throws Exception {
    return start(socket, outputs, outputs);
  }

  /**
   * @param folder folder that it locks
   */
  static ExecutorProcess start(Path socket, Path outputs, Path folder) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ExecutorProcess.class.getName(),
                socket.toString(),
                outputs.toString(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = lines.readLine();
    while (line != null && !line.startsWith(HANDED_OVER)) {
      line = lines.readLine();
    }
    assertThat(line).as("the executor has handed its map output over").isNotNull();
    String[] words = line.substring(HANDED_OVER.length()).split(" ");
    return new ExecutorProcess(
        process, new PeerAddress(words[0], words[1], Integer.parseInt(words[2])));
  }

  /** Prints the node's address, then waits to be killed. */
  public static void main(String[] arguments) throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(Path.of(arguments[1]));
    ExecutorFolders held = ExecutorFolders.hold(List.of(Path.of(arguments[2])));
    NodeClient client = NodeClient.enter(Path.of(arguments[0]), NAME, SECRET, LIMITS);
    client.handOver(SHUFFLE, MAP_ID, outputs.find(SHUFFLE, MAP_ID));
    PeerAddress node = client.endpoint().peer();
    System.out.println(HANDED_OVER + String.join(" ", node.id(), node.host(), "" + node.port()));
    Thread.sleep(Long.MAX_VALUE);
    held.close();
  }

  PeerAddress node() {
    return node;
  }

  /** Sends a signal, for example STOP. */
  void signal(String name) throws Exception {
    NodeProcess.signal(process, name);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
