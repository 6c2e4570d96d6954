// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import dev.sluice.spark.cluster.SparkHome.JavaCommand;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Spark's history server in a process of its own. Tests and {@link StandaloneCluster} start and
 * close it. Any thread.
 */
public final class HistoryServer implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);
  private static final Pattern URL = Pattern.compile("HistoryServer.* started at (\\S+)");

  private final SparkProcess process;
  private final URI address;

  private HistoryServer(SparkProcess process, URI address) {
    this.process = process;
    this.address = address;
  }

  /**
   * Starts a history server.
   *
   * @param directory for its log, {@code NAME.log}
   * @param eventLogs directory of the applications' event logs
   * @param classPath jars besides Spark's
   */
  public static HistoryServer start(
      SparkHome home, Path directory, String name, Path eventLogs, List<Path> classPath)
      throws IOException, InterruptedException {
    List<String> options =
        List.of(
            "-Dspark.history.ui.port=0", "-Dspark.history.fs.logDirectory=" + eventLogs.toUri());
    SparkProcess process =
        SparkProcess.start(
            home,
            directory,
            name,
            new JavaCommand(
                classPath, options, "org.apache.spark.deploy.history.HistoryServer", List.of()));
    boolean started = false;
    try {
      URI address = URI.create(process.awaitLog(URL, START_TIMEOUT).group(1));
      started = true;
      return new HistoryServer(process, address);
    } finally {
      if (!started) {
        process.close();
      }
    }
  }

  public URI address() {
    return address;
  }

  /** Returns the output that the process has written so far. */
  public String log() {
    return process.log();
  }

  @Override
  public void close() {
    process.close();
  }
}
