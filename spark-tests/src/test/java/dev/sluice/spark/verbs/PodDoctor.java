// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import dev.sluice.spark.deployment.DoctorProcess;
import dev.sluice.spark.deployment.DoctorProcess.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The doctor in {@link Pods}, with the provider verbs. It chooses ports and registers memory as an
 * executor does.
 *
 * @param directory for its output
 */
record PodDoctor(Path jar, Path directory, Launcher launcher) {
  /** Start of a process in a pod. */
  interface Launcher {
    /** Returns the command that runs another one in a pod. */
    List<String> in(String pod, List<String> command);
  }

  /**
   * @param address the executor's address
   */
  Result examine(String pod, String address, Map<String, String> environment) throws Exception {
    return DoctorProcess.run(directory, environment(address, environment), command(pod));
  }

  /** The doctor of a pod READs from that of another one. */
  Result read(
      String pod, String address, String reader, String own, Map<String, String> environment)
      throws Exception {
    try (DoctorProcess server =
        DoctorProcess.start(
            directory, environment(address, environment), command(pod, "--serve", "--port", "0"))) {
      return DoctorProcess.run(
          directory,
          environment(own, environment),
          command(reader, "--peer", address + ":" + server.port()));
    }
  }

  private static Map<String, String> environment(String address, Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("SPARK_LOCAL_IP", address);
    return environment;
  }

  private List<String> command(String pod, String... options) {
    List<String> doctor = new ArrayList<>(DoctorProcess.command(jar, "--provider", "verbs"));
    doctor.addAll(List.of(options));
    return launcher.in(pod, doctor);
  }
}
