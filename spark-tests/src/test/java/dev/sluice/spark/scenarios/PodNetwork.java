// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * This host as a node of Kubernetes. It has a bridge. Each executor gets a network of its own on
 * the bridge, mounts and a user. Its address is removed when the executor ends. Spark runs the
 * script {@code pods/java} as the executors' java, and the script sets all this up. The caller that
 * creates it closes it, after the cluster. For one thread. Needs root.
 */
final class PodNetwork implements AutoCloseable {
  /** User id in Spark's images. The next id is another user. */
  static final int USER = 185;

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final Path folder;
  private final String name = "sl" + ProcessHandle.current().pid();
  private final String subnet = "198.18." + ProcessHandle.current().pid() % 250;

  private PodNetwork(Path folder) {
    this.folder = folder;
  }

  /**
   * @param folder is made
   */
  static PodNetwork create(Path folder) throws IOException, InterruptedException {
    PodNetwork network = new PodNetwork(folder);
    Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
    try (InputStream script = PodNetwork.class.getResourceAsStream("/pods/java")) {
      Files.copy(script, java);
    }
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(
        folder.resolve("passwd"),
        "root:x:0:0::/:/bin/sh\n%1$d:x:%1$d:%1$d::/:/bin/sh\n%2$d:x:%2$d:%2$d::/:/bin/sh\n"
            .formatted(USER, USER + 1));
    boolean created = false;
    try {
      run("ip", "link", "add", "name", network.name, "type", "bridge");
      run("ip", "address", "add", network.host() + "/24", "dev", network.name);
      run("ip", "link", "set", network.name, "up");
      created = true;
    } finally {
      if (!created) {
        network.close();
      }
    }
    return network;
  }

  /**
   * The reason that there can be no pod network; empty if there can be one. Leaves nothing behind.
   */
  static String lack() {
    String tried =
        "ip link add name br0 type bridge && ip link add name v0 type veth peer name v1 && mount --bind / /mnt"
            + " && command -v setpriv";
    try {
      run("unshare", "--mount", "--net", "sh", "-c", tried);
      return "";
    } catch (IOException e) {
      return e.getMessage();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return e.toString();
    }
  }

  /** The node's address, by which all pods reach it. */
  String host() {
    return subnet + ".1";
  }

  /** A command that starts another one as the pods' user. */
  static List<String> asUser() {
    return List.of(
        "setpriv",
        "--reuid",
        Integer.toString(USER),
        "--regid",
        Integer.toString(USER),
        "--clear-groups",
        "--inh-caps",
        "-all,+dac_read_search",
        "--ambient-caps",
        "+dac_read_search");
  }

  /**
   * Settings that make an application's executors pods, as alternating keys and values.
   *
   * @param user of their processes
   * @param localDirectory as SPARK_LOCAL_DIRS
   * @param mounts shell commands that make the mounts of a pod
   */
  List<String> settings(int user, Path localDirectory, String mounts) {
    List<String> settings =
        new ArrayList<>(List.of("spark.driver.host", host(), "spark.driver.bindAddress", host()));
    environment(settings, "JAVA_HOME", folder.resolve("jdk").toString());
    environment(settings, "SPARK_LOCAL_DIRS", localDirectory.toString());
    environment(settings, "POD_JAVA_HOME", System.getProperty("java.home"));
    environment(settings, "POD_FOLDER", folder.toString());
    environment(settings, "POD_NETWORK", name);
    environment(settings, "POD_SUBNET", subnet);
    environment(settings, "POD_USER", Integer.toString(user));
    environment(
        settings,
        "POD_MOUNTS",
        "mount --bind %s /etc/passwd; %s".formatted(folder.resolve("passwd"), mounts));
    return settings;
  }

  private static void environment(List<String> settings, String variable, String value) {
    settings.add("spark.executorEnv." + variable);
    settings.add(value);
  }

  /** Pods that were started and still have their network. */
  List<String> pods() throws IOException, InterruptedException {
    return run("ip", "netns", "list")
        .lines()
        .map(line -> line.split(" ")[0])
        .filter(namespace -> namespace.startsWith(name + "-"))
        .toList();
  }

  /** Takes their networks away, with their addresses. */
  void remove(List<String> pods) throws IOException, InterruptedException {
    for (String pod : pods) {
      run("ip", "link", "delete", pod.replace('-', 'v'));
      run("ip", "netns", "delete", pod);
    }
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes());
    if (!process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + ": " + output.strip());
    }
    return output;
  }

  @Override
  public void close() {
    try {
      remove(pods());
      run("ip", "link", "delete", name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
