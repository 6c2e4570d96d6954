// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.CpuTicks;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Nodes that serve the map outputs of one MapReduce job. No other part of the job runs. The caller
 * has written the map outputs to {@link #folder}, and reads them with the settings of {@link #job},
 * by Sluice or from the hosts of {@link #host}. One thread uses it and closes it, which ends the
 * processes.
 */
public final class ShuffleNodes implements AutoCloseable {
  /** Application of the job. */
  public static final String APPLICATION = "application_1700000000000_0001";

  /** Attempt 0 of a map task of the job, as a format. */
  public static final String MAP_ATTEMPT = "attempt_1700000000000_0001_m_%06d_0";

  private static final String USER = System.getProperty("user.name");

  private final HadoopFiles files;
  private final HadoopSettings settings;
  private final int nodes;
  private final List<AnsweringProcess> processes = new ArrayList<>();
  private final List<String> hosts = new ArrayList<>();

  /**
   * Prepares nodes. {@link #start} starts them.
   *
   * @param directory folder of all their files, which does not exist
   * @param root folder of this repository, whose modules are built
   */
  public ShuffleNodes(Path directory, Path root, int nodes) throws IOException {
    files = new HadoopFiles(root.toRealPath());
    settings = new HadoopSettings(Files.createDirectories(directory).toRealPath());
    this.nodes = nodes;
  }

  /** Returns the folder of a map output, which lies on one of the nodes. */
  public Path folder(int map) {
    List<Path> directories = settings.localDirectories(node(map));
    return directories
        .get(map / nodes % directories.size())
        .resolve(Path.of("usercache", USER, "appcache", APPLICATION, "output"))
        .resolve(MAP_ATTEMPT.formatted(map));
  }

  private int node(int map) {
    return 1 + map % nodes;
  }

  /**
   * Starts the nodes; returns when they serve the map outputs.
   *
   * @param secret secret of the job, in Base64
   * @param provider value of sluice.node.provider
   */
  public void start(String secret, String provider) throws IOException, InterruptedException {
    files.install(settings.home());
    settings.writeDaemonConf(provider, false);
    for (int node = 1; node <= nodes; node++) {
      Path folder = settings.node(node);
      for (Path local : settings.localDirectories(node)) {
        Files.createDirectories(local);
      }
      HadoopFiles.configure(folder.resolve("conf"), settings.nodeManager(node, 0));
      Path log = folder.resolve("process.log");
      AnsweringProcess process =
          new AnsweringProcess(
              files
                  .ofTestkit(folder, ShuffleNode.class, List.of(APPLICATION, USER, secret))
                  .redirectError(log.toFile())
                  .start(),
              reason -> new IOException("the node %s; see %s".formatted(reason, log)));
      processes.add(process);
      hosts.add(settings.host(node) + ":" + process.await());
    }
  }

  /** Returns the host and port at which Hadoop's service has a map output. */
  public String host(int map) {
    return hosts.get(node(map) - 1);
  }

  /** Returns the settings of the job's reduce tasks. */
  public Map<String, String> job(Shuffle shuffle) {
    return settings.job(shuffle, "");
  }

  /** Returns the jar that reduce tasks need for Sluice. */
  public Path plugin() {
    return HadoopFiles.plugin(settings.home());
  }

  /** Returns the CPU time of all processes so far, in seconds. */
  public double cpuSeconds() {
    return CpuTicks.seconds(
        processes.stream()
            .flatMap(process -> ProcessHandle.of(process.pid()).stream())
            .flatMap(process -> Stream.concat(Stream.of(process), process.descendants())));
  }

  /** Ends all processes. The caller deletes the files. */
  @Override
  public void close() {
    processes.forEach(AnsweringProcess::close);
  }
}
