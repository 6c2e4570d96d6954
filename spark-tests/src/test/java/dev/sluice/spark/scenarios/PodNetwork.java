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
 * This host as a node of Kubernetes: a bridge, on which each executor that is started gets a
 * network of its own, with an address that ends with it, and mounts and a user of its own. What
 * does it is the script {@code pods/java}, which Spark takes for the executors' java. Whoever
 * creates it closes it, after the cluster; for one thread. Needs root.
 */
final class PodNetwork implements AutoCloseable {
  /** Of Spark's images. The next one is somebody else. */
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

  /** Why there can be none; empty where there can. Leaves nothing behind. */
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
   * What an application needs for its executors to be pods, keys and values in turn.
   *
   * @param user of their processes
   * @param localDirectory as SPARK_LOCAL_DIRS
   * @param mounts shell commands that make those of a pod
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

  /** Pods that were started and whose network is there. */
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
