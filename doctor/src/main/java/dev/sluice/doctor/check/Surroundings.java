// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.FixLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Owner of this process's limits, which decides where a limit is raised. {@link LockedMemoryCheck}
 * and {@link DeviceFilesCheck} make it on their own threads; immutable. The kinds are tried from
 * the innermost: a pod is a container on a host.
 *
 * @param unit systemd's name of the service that limits this process; empty if it is not known
 * @param isRoot true for root of the host's user namespace, whom capabilities exempt
 */
record Surroundings(Kind kind, String unit, boolean isRoot) {
  enum Kind {
    KUBERNETES,
    CONTAINER,
    YARN,
    SERVICE,
    HOST
  }

  /** Names that container runtimes give their control groups. */
  private static final Pattern RUNTIME =
      Pattern.compile("docker[-/]|cri-containerd|crio-|libpod|/lxc[./]|/machine\\.slice/");

  /** Service units without user@1000.service, which has the sessions of a user. */
  private static final Pattern SERVICE =
      Pattern.compile("(?m)/system\\.slice/(?:\\S*/)?([^/\\s]+\\.service)");

  /** First user and number of users that the host's user namespace maps, user_namespaces(7). */
  private static final Pattern ALL_USERS = Pattern.compile("(?m)^ *0 +0 +4294967295$");

  private static final Pattern ROOT = Pattern.compile("(?m)^Uid:\\s+\\d+\\s+0\\s");

  private static final String UNLIMITED = "LimitMEMLOCK=infinity";

  private static final String CAPABILITY =
      "; the capability IPC_LOCK exempts only root, and no user in a user namespace";

  /**
   * @param root {@code /}, or a directory in its place
   * @param environment environment of this process
   */
  static Surroundings of(Path root, Map<String, String> environment) {
    String cgroups = read(root.resolve("proc/self/cgroup"));
    if (environment.containsKey("KUBERNETES_SERVICE_HOST")
        || Files.exists(root.resolve("var/run/secrets/kubernetes.io"))
        || cgroups.contains("kubepods")) {
      return new Surroundings(
          Kind.KUBERNETES,
          cgroups.contains("crio-") ? "crio.service" : "containerd.service",
          isRoot(root));
    }
    if (environment.containsKey("container")
        || Files.exists(root.resolve(".dockerenv"))
        || Files.exists(root.resolve("run/.containerenv"))
        || RUNTIME.matcher(cgroups).find()) {
      return new Surroundings(Kind.CONTAINER, "", isRoot(root));
    }
    Matcher service = SERVICE.matcher(cgroups);
    String unit = service.find() ? service.group(1) : "";
    if (environment.getOrDefault("CONTAINER_ID", "").startsWith("container_")) {
      return new Surroundings(Kind.YARN, unit, isRoot(root));
    }
    return new Surroundings(unit.isEmpty() ? Kind.HOST : Kind.SERVICE, unit, isRoot(root));
  }

  private static boolean isRoot(Path root) {
    return ROOT.matcher(read(root.resolve("proc/self/status"))).find()
        && ALL_USERS.matcher(read(root.resolve("proc/self/uid_map"))).find();
  }

  private static String read(Path file) {
    try {
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException e) {
      return "";
    }
  }

  /** Returns the way to let this process lock more memory. */
  String raiseLockedMemory() {
    return switch (kind) {
      case KUBERNETES ->
          "set LimitMEMLOCK=infinity in the unit of the node's container runtime (containerd or"
              + " crio), and restart it"
              + CAPABILITY;
      case CONTAINER ->
          "start the container with --ulimit memlock=-1 (docker, podman), or set"
              + " LimitMEMLOCK=infinity in the container runtime's unit, and restart it"
              + CAPABILITY;
      case YARN ->
          "set LimitMEMLOCK=infinity in the NodeManager's unit, or memlock of its user in"
              + " /etc/security/limits.d, and restart the NodeManager: its containers inherit the"
              + " limit";
      case SERVICE -> "set LimitMEMLOCK=infinity in the unit " + unit + ", and restart it";
      case HOST ->
          "add \"%s - memlock unlimited\" to a file of /etc/security/limits.d, log in again"
                  .formatted(System.getProperty("user.name"))
              + " (ulimit -l) and start Spark's daemons from there; daemons of systemd need"
              + " LimitMEMLOCK=infinity in their unit";
    };
  }

  /** Returns the line that lets this process lock more memory. */
  FixLine lockedMemoryLine() {
    return switch (kind) {
      case KUBERNETES ->
          isRoot
              ? FixLine.of(FixLine.Place.POD_CAPABILITY, "- IPC_LOCK")
              : FixLine.ofUnit(unit, UNLIMITED);
      case CONTAINER -> FixLine.of(FixLine.Place.CONTAINER, "--ulimit memlock=-1");
      case YARN -> FixLine.ofUnit(unit.isEmpty() ? "NODEMANAGER.service" : unit, UNLIMITED);
      case SERVICE -> FixLine.ofUnit(unit, UNLIMITED);
      case HOST ->
          FixLine.of(
              FixLine.Place.LIMITS, System.getProperty("user.name") + " - memlock unlimited");
    };
  }

  @Override
  public String toString() {
    return switch (kind) {
      case KUBERNETES -> "a Kubernetes pod";
      case CONTAINER -> "a container";
      case YARN -> "a YARN container";
      case SERVICE -> "the systemd unit " + unit;
      case HOST -> "a plain host";
    };
  }
}
