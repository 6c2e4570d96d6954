// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * A line of a file that mends a {@link Finding}. Checks make it, and {@code --fix} prints it with
 * the finding's message as the reason. Immutable.
 *
 * @param place file to paste it into
 * @param name systemd's name of the unit, or the key of a setting; empty for other places
 * @param text the line itself
 */
public record FixLine(Place place, String name, String text) implements Serializable {
  /** Files that a line may belong to, in the order of the answer. */
  public enum Place {
    SPARK_DEFAULTS("end of spark-defaults.conf; its last line for a key counts"),

    /** A drop-in of a unit of systemd. */
    UNIT(
        "/etc/systemd/system/%s.d/sluice.conf; then systemctl daemon-reload, and restart the unit",
        "[Service]"),

    LIMITS("/etc/security/limits.d/sluice.conf; then log in again"),
    SYSCTL("/etc/sysctl.d/90-sluice.conf; then sysctl --system"),
    UDEV("/etc/udev/rules.d/99-sluice.rules; then udevadm control --reload && udevadm trigger"),
    CONTAINER("options of docker run or podman run"),

    /** A capability of the executors' container. */
    POD_CAPABILITY(
        "the executors' pod template (spark.kubernetes.executor.podTemplateFile)",
        "spec:",
        "  containers:",
        "    - name: spark-kubernetes-executor",
        "      securityContext:",
        "        capabilities:",
        "          add:"),

    /** A limit among the resources of the executors' container. */
    POD_LIMIT(
        "the executors' pod template (spark.kubernetes.executor.podTemplateFile)",
        "spec:",
        "  containers:",
        "    - name: spark-kubernetes-executor",
        "      resources:",
        "        limits:");

    private final String file;
    private final List<String> head;

    /**
     * @param file file in words, perhaps with a format for a name
     * @param head lines above the first one, without which it has no effect
     */
    Place(String file, String... head) {
      this.file = file;
      this.head = List.of(head);
    }
  }

  /** Keys that protect an application's bytes, or tell peers from strangers, begin with these. */
  private static final List<String> PROTECTION =
      List.of(
          "spark.authenticate",
          "spark.io.encryption.",
          "spark.network.crypto.",
          "spark.network.sasl.",
          "spark.shuffle.rdma.allowPlaintext",
          "spark.ssl.");

  /** Returns true for a key that protects an application. Only its operator may change it. */
  public static boolean isProtection(String key) {
    return PROTECTION.stream().anyMatch(key::startsWith);
  }

  /** Returns true if the line sets a key that protects an application. */
  boolean isProtection() {
    return place == Place.SPARK_DEFAULTS && isProtection(name);
  }

  /** Returns a line of a file with one section. */
  public static FixLine of(Place place, String text) {
    return new FixLine(place, "", text);
  }

  /** Returns a line of spark-defaults.conf. */
  public static FixLine setting(String key, String value) {
    return new FixLine(Place.SPARK_DEFAULTS, key, String.format("%-42s %s", key, value));
  }

  /** Returns a line of spark-defaults.conf in place of that of a wrong key. */
  public static FixLine inPlaceOf(String wrong, String key, String value) {
    return new FixLine(
        Place.SPARK_DEFAULTS, key, "# remove " + wrong + ", and add:\n" + setting(key, value).text);
  }

  /** Returns a line of a drop-in of systemd. */
  public static FixLine ofUnit(String unit, String text) {
    return new FixLine(Place.UNIT, unit, text);
  }

  /** Returns the file in words, for a person who pastes the line. */
  String file() {
    return String.format(place.file, name);
  }

  /** Returns the file as a comment, and the lines above the first one. */
  List<String> head() {
    List<String> lines = new ArrayList<>();
    lines.add("# " + file());
    lines.addAll(place.head);
    return lines;
  }

  /** Returns spaces before the line: a place in YAML is deeper than the last line above. */
  String indent() {
    boolean isYaml = place == Place.POD_CAPABILITY || place == Place.POD_LIMIT;
    return isYaml ? " ".repeat(2 * place.head.size()) : "";
  }
}
