// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Network namespaces of the test bed's guest, like those of a node's pods. They see the guest's
 * RDMA devices as well as their own. The caller that makes them closes them. For one thread.
 */
final class Pods implements AutoCloseable {
  private static final long TIMEOUT_SECONDS = 30;

  /** Number of users that the kubelet maps for a pod. */
  private static final int USERS = 65536;

  /** Leaves the device file of one RDMA device, as a device plugin does, and runs a command. */
  private static final String WITH_OWN_DEVICE =
      """
      set -e
      file=$(basename "$(dirname "$(grep -lx "$1" /sys/class/infiniband_verbs/*/ibdev)")")
      mount -t tmpfs tmpfs /mnt
      touch "/mnt/$file"
      mount --bind "/dev/infiniband/$file" "/mnt/$file"
      mount --rbind /mnt /dev/infiniband
      exec "${@:2}"
      """;

  /** Way in which RDMA devices belong to network namespaces (rdma-system(8)). */
  enum Mode {
    SHARED,
    EXCLUSIVE
  }

  private final Mode mode;
  private final List<String> names = new ArrayList<>();

  /** Processes that keep the user namespaces of pods. */
  private final Map<String, Process> keepers = new HashMap<>();

  private int cables;

  Pods(Mode mode) throws IOException, InterruptedException {
    this.mode = mode;
    setMode(mode);
  }

  /**
   * Changes the mode, which the kernel does only while there is no other network namespace (EBUSY).
   * Waits, because the kernel takes deleted namespaces apart in the background.
   */
  private static void setMode(Mode mode) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (true) {
      try {
        run("rdma", "system", "set", "netns", mode.name().toLowerCase());
        return;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }
  }

  /** Makes a pod without any network but the loopback interface. */
  void add(String pod) throws IOException, InterruptedException {
    run("ip", "netns", "add", pod);
    names.add(pod);
    run("ip", "-n", pod, "link", "set", "lo", "up");
  }

  /**
   * Makes the same kind of pod with a user namespace of its own ({@code hostUsers: false}), which
   * owns the network namespace.
   *
   * @param firstUser user of the guest that is root in the pod
   */
  void addWithOwnUsers(String pod, int firstUser) throws IOException, InterruptedException {
    Process keeper =
        new ProcessBuilder("unshare", "--user", "--net", "sh", "-c", "echo; exec sleep infinity")
            .start();
    keepers.put(pod, keeper);
    keeper.inputReader().readLine(); // when it is in the namespaces
    for (String map : List.of("uid_map", "gid_map")) {
      Files.writeString(
          Path.of("/proc", Long.toString(keeper.pid()), map), "0 " + firstUser + " " + USERS);
    }
    run(command("ip netns attach %s %d", pod, keeper.pid()));
    names.add(pod);
    run("ip", "-n", pod, "link", "set", "lo", "up");
  }

  /**
   * Gives a pod a network device with the given index and address. The other end is in the guest.
   */
  void connect(String pod, int index, String address) throws IOException, InterruptedException {
    String device = "eth0";
    run(
        command(
            "ip link add name pod%d type veth peer name %s index %d netns %s",
            cables++, device, index, pod));
    bringUp(pod, device, address);
  }

  /** Joins two pods by a cable, with a network device of one name in both. */
  void join(String device, String pod, String address, String other, String otherAddress)
      throws IOException, InterruptedException {
    run(
        command(
            "ip -n %s link add name %s type veth peer name %s netns %s",
            pod, device, device, other));
    bringUp(pod, device, address);
    bringUp(other, device, otherAddress);
  }

  private static void bringUp(String pod, String device, String address)
      throws IOException, InterruptedException {
    run(command("ip -n %s address add %s/24 dev %s", pod, address, device));
    run(command("ip -n %s link set %s up", pod, device));
  }

  /** Gives a pod a macvlan interface of a node's network device, as Multus does. */
  void addMacvlan(String node, String parent, String pod, String device, String address)
      throws IOException, InterruptedException {
    run(
        command(
            "ip -n %s link add link %s name %s netns %s type macvlan mode bridge",
            node, parent, device, pod));
    bringUp(pod, device, address);
  }

  /** Makes an RDMA device of a network device of a pod. */
  void addRdma(String pod, String rdma, String device) throws IOException, InterruptedException {
    run(command("ip netns exec %s rdma link add %s type rxe netdev %s", pod, rdma, device));
    if (mode == Mode.EXCLUSIVE) {
      run(command("rdma dev set %s netns %s", rdma, pod));
    }
  }

  /** A command that runs another one in a pod. */
  static List<String> in(String pod, List<String> command) {
    List<String> all = new ArrayList<>(command("ip netns exec %s", pod));
    all.addAll(command);
    return all;
  }

  /**
   * A command that runs another one in a pod with users of its own, with the file of one device.
   *
   * @param user of the pod
   */
  List<String> in(String pod, int user, String rdma, List<String> command) {
    List<String> all =
        new ArrayList<>(
            in(
                pod,
                command(
                    "nsenter --user=/proc/%d/ns/user --setuid 0 --setgid 0 unshare --mount bash -c",
                    keepers.get(pod).pid())));
    all.addAll(List.of(WITH_OWN_DEVICE, pod, rdma));
    all.addAll(command("setpriv --reuid %1$d --regid %1$d --clear-groups", user));
    all.addAll(command);
    return all;
  }

  /** The index of a network device of the guest. */
  static int index(String device) throws IOException, InterruptedException {
    return Integer.parseInt(run("cat", "/sys/class/net/" + device + "/ifindex").strip());
  }

  private static List<String> command(String format, Object... arguments) {
    return List.of(format.formatted(arguments).split(" "));
  }

  private static String run(String... command) throws IOException, InterruptedException {
    return run(List.of(command));
  }

  private static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(command + ": " + output);
    }
    return output;
  }

  /** Takes the pods away, and with their network devices the RDMA devices of these. */
  @Override
  public void close() throws IOException {
    try {
      for (Process keeper : keepers.values()) {
        keeper.destroyForcibly().waitFor();
      }
      for (String pod : names) {
        run("ip", "netns", "delete", pod);
      }
      setMode(Mode.SHARED);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
