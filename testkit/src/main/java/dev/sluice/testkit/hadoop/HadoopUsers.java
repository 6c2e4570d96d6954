// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import static java.util.Objects.requireNonNull;

import dev.sluice.testkit.Commands;
import dev.sluice.testkit.OtherUser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

/**
 * Users of a cluster with LinuxContainerExecutor: Hadoop's own processes and the node daemon run as
 * {@link OtherUser#MANAGER}, containers as {@link OtherUser#OWNER}. A script takes the place of
 * Hadoop's native container-executor, which no Maven repository has. Capabilities of its parent
 * take the place of that program's setuid bit; containers and the daemon do not have them. Needs
 * root. A test makes it for {@link HadoopCluster}. Immutable.
 *
 * @param security settings of all processes in a secure cluster; empty for another one
 * @param javaOptions options of all JVMs but the daemon's
 */
public record HadoopUsers(Map<String, String> security, String javaOptions) {
  private static final String CAPABILITIES = "+chown,+dac_override,+fowner,+kill,+setgid,+setuid";
  private static final String NO_CAPABILITIES = "--inh-caps=-all --ambient-caps=-all";
  private static final String JAVA_OPTIONS = "JAVA_TOOL_OPTIONS";

  /**
   * Writes the script, and a program that starts the installed daemon. Lets containers write to the
   * staging folder.
   */
  void install(Path directory, HadoopSettings settings) throws IOException {
    Commands.run(List.of("chmod", "-R", "1777", settings.staging().toString()));
    try (InputStream script = HadoopUsers.class.getResourceAsStream("container-executor.sh")) {
      Files.copy(requireNonNull(script), executor(directory));
    }
    makeExecutable(executor(directory));
    Path daemon = Files.createDirectories(daemon(directory).resolve("bin")).resolve("sluice-node");
    Files.writeString(
        daemon,
        "#!/bin/bash\nexec env -u %s setpriv %s '%s/bin/sluice-node' \"$@\"\n"
            .formatted(JAVA_OPTIONS, NO_CAPABILITIES, settings.home()));
    makeExecutable(daemon);
  }

  private static Path executor(Path directory) {
    return directory.resolve("container-executor");
  }

  private static Path daemon(Path directory) {
    return directory.resolve("node-daemon");
  }

  private static void makeExecutable(Path program) throws IOException {
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Returns the settings of NodeManagers. */
  Map<String, String> settings(Path directory) {
    String executor = "yarn.nodemanager.linux-container-executor.";
    return Map.of(
        "yarn.nodemanager.container-executor.class",
        "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor",
        executor + "path",
        executor(directory).toString(),
        executor + "nonsecure-mode.local-user",
        OtherUser.OWNER.name(),
        "sluice.yarn.home",
        daemon(directory).toString(),
        "yarn.nodemanager.admin-env",
        JAVA_OPTIONS + "=" + javaOptions);
  }

  /** Has a process of Hadoop run as its user, to whom its folder then belongs. */
  void prepare(ProcessBuilder process, Path folder) throws IOException {
    OtherUser.MANAGER.makeDirectory(folder, OtherUser.MANAGER, "0755");
    process
        .command()
        .addAll(
            0,
            List.of(
                "setpriv",
                "--reuid=" + OtherUser.MANAGER.name(),
                "--regid=" + OtherUser.MANAGER.name(),
                "--clear-groups",
                "--inh-caps=-all," + CAPABILITIES,
                "--ambient-caps=-all," + CAPABILITIES));
    process.environment().put(JAVA_OPTIONS, javaOptions);
  }
}
