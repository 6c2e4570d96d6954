// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.spark.deployment.DoctorProcess;
import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.spark.verbs.Pods.Mode;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Pods with {@code hostUsers: false}. Their root is an unprivileged user of the node, whose
 * capabilities are valid in the pod alone. Each pod has a network, and the file of one device.
 */
@NeedsRdmaDevice
@Cable.Needed
final class UserNamespaceIT {
  private static final String FIRST = "198.18.0.1";
  private static final String SECOND = "198.18.0.2";
  private static final Map<String, String> DEVICES = Map.of("pod", "rxe7", "other", "rxe8");
  private static final Map<String, String> KUBERNETES =
      Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1");

  /** User in Spark's images. */
  private static final int SPARK = 185;

  private static final int ROOT = 0;

  /** Limit of locked memory that systemd gives, in bytes. */
  private static final int LOW_LIMIT = 8 << 20;

  private static final int SUFFICIENT_LIMIT = 1 << 30;

  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

  private Path directory;
  private Path jar;
  private RdmaResources before;
  private Pods pods;

  /** Makes two pods, whose users are different users of the node. */
  @BeforeEach
  void makePods() throws Exception {
    before = RdmaResources.now();
    directory =
        Files.setPosixFilePermissions(
            Files.createTempDirectory(Path.of("/tmp"), "pods"),
            PosixFilePermissions.fromString("rwxr-xr-x"));
    jar = Files.copy(Path.of(System.getProperty("sluice.jar")), directory.resolve("sluice.jar"));
    assumeThat(run(List.of("unshare", "--user", "true")).output())
        .as("user namespaces can be made here")
        .isEmpty();
    pods = new Pods(Mode.SHARED);
    pods.addWithOwnUsers("pod", 1 << 16);
    pods.addWithOwnUsers("other", 2 << 16);
    pods.join("eth0", "pod", FIRST, "other", SECOND);
    for (Map.Entry<String, String> device : DEVICES.entrySet()) {
      pods.addRdma(device.getKey(), device.getValue(), "eth0");
    }
    assumeThat(runAsRoot("test", "-r", JAVA_HOME.resolve("lib/modules").toString()).exitCode())
        .as("users of the pods can read " + JAVA_HOME)
        .isZero();
  }

  @AfterEach
  void nothingIsLeftInTheKernel() throws Exception {
    if (pods != null) {
      pods.close();
    }
    RdmaResources.awaitNothingButWhatWas(before);
  }

  private static List<String> limited(int limit, List<String> command) {
    List<String> all = new ArrayList<>(List.of("prlimit", "--memlock=" + limit));
    all.addAll(command);
    return all;
  }

  private PodDoctor doctor(int user, int limit) {
    return new PodDoctor(
        jar,
        directory,
        (pod, command) -> limited(limit, pods.in(pod, user, DEVICES.get(pod), command)));
  }

  private Result runAsRoot(String... command) throws Exception {
    return run(pods.in("pod", ROOT, DEVICES.get("pod"), List.of(command)));
  }

  private Result run(List<String> command) throws Exception {
    return DoctorProcess.run(directory, Map.of(), limited(LOW_LIMIT, command));
  }

  @Test
  void podsReadWithinTheLimitOfLockedMemory() throws Exception {
    Result result = doctor(SPARK, SUFFICIENT_LIMIT).read("pod", FIRST, "other", SECOND, KUBERNETES);
    assertThat(result.findings("warn|fail", ".*")).as(result.output()).isEmpty();
    assertThat(result.findings("ok", "peer")).as(result.output()).hasSize(1);
    assertThat(result.findings("ok", "memlock"))
        .singleElement()
        .asString()
        .contains("memlock 1048576 KiB", "in a Kubernetes pod");
  }

  @Test
  void noCapabilityLiftsTheLimitOfLockedMemory() throws Exception {
    Result result = doctor(ROOT, LOW_LIMIT).examine("pod", FIRST, KUBERNETES);
    assertThat(result.findings("fail", ".*"))
        .as(result.output())
        .singleElement()
        .asString()
        .contains(
            "memlock 8192 KiB",
            "CAP_IPC_LOCK is valid in a user namespace only",
            "LimitMEMLOCK=infinity in the unit of the node's container runtime");
    Result raised = runAsRoot("bash", "-c", "ulimit -l unlimited");
    assertThat(raised.output()).contains("Operation not permitted");
    assertThat(raised.exitCode()).isNotZero();
  }

  @Test
  void theKernelPinsNoMoreThanTheLimit() throws Exception {
    String[] command = {
      JAVA_HOME.resolve("bin/java").toString(),
      "-Xmx64m",
      "--enable-native-access=ALL-UNNAMED",
      "-cp",
      jar + ":" + copyOfClass(MemoryRegistration.class),
      MemoryRegistration.class.getName(),
      DEVICES.get("pod"),
      "4194304",
      "16777216"
    };
    assertThat(runAsRoot(command).output()).contains("4194304: ok", "16777216: ENOMEM");
    assertThat(run(List.of(command)).output())
        .as("root of the node has CAP_IPC_LOCK")
        .contains("4194304: ok", "16777216: ok");
  }

  /** Returns a class path with a class that all users may read. */
  private Path copyOfClass(Class<?> type) throws Exception {
    Path copy = directory.resolve(type.getName().replace('.', '/') + ".class");
    Files.createDirectories(copy.getParent());
    try (InputStream original = type.getResourceAsStream(type.getSimpleName() + ".class")) {
      Files.copy(original, copy);
    }
    return directory;
  }
}
