// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import dev.sluice.node.NodeOptions;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.network.util.JavaUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The files in {@code conf/kubernetes} match the API and each other. */
final class ManifestsTest {
  private static final String LOCAL = "spark-local-dir-";

  private DaemonSet daemons;
  private PodSpec daemon;
  private PodSpec executor;
  private PodSpec driver;
  private Map<String, String> settings;

  @BeforeEach
  void read() throws Exception {
    daemons = Manifests.read("sluice-node.yaml", DaemonSet.class);
    daemon = daemons.getSpec().getTemplate().getSpec();
    executor = Manifests.read("executor-pod.yaml", Pod.class).getSpec();
    driver = Manifests.read("driver-pod.yaml", Pod.class).getSpec();
    ConfigMap config = Manifests.read("sluice-node-config.yaml", ConfigMap.class);
    settings = Manifests.properties(config.getData().get("sluice-node.conf"));
  }

  @Test
  void aFieldThatTheApiDoesNotHaveIsAnError() {
    assertThatThrownBy(
            () -> Manifests.parse("spec: {securityContext: {hostUsers: true}}", Pod.class))
        .isInstanceOf(UnrecognizedPropertyException.class)
        .hasMessageContaining("hostUsers");
    assertThatThrownBy(
            () -> Manifests.parse("spec: {terminationGracePeriodSeconds: soon}", Pod.class))
        .hasMessageContaining("terminationGracePeriodSeconds");
  }

  @Test
  void theDaemonTakesItsSettings() {
    assertThatCode(() -> NodeOptions.of(settings)).doesNotThrowAnyException();
    assertThat(main(daemon).getArgs())
        .contains("sluice.node.host=$(NODE_ADDRESS)")
        .containsSubsequence("--conf", "/etc/sluice/sluice-node.conf");
    assertThat(main(daemon).getEnv())
        .filteredOn(variable -> variable.getName().equals("NODE_ADDRESS"))
        .singleElement()
        .extracting(variable -> variable.getValueFrom().getFieldRef().getFieldPath())
        .isEqualTo("status.hostIP");
    assertThat(volumes(daemon).get("conf").getConfigMap().getName()).isEqualTo("sluice-node");
  }

  @Test
  void theDaemonSetSelectsItsPods() {
    assertThat(daemons.getSpec().getTemplate().getMetadata().getLabels())
        .containsAllEntriesOf(daemons.getSpec().getSelector().getMatchLabels());
  }

  @Test
  void allMountsHaveTheirVolumes() {
    for (PodSpec pod : List.of(daemon, executor, driver)) {
      assertThat(containers(pod).flatMap(container -> container.getVolumeMounts().stream()))
          .extracting(VolumeMount::getName)
          .isSubsetOf(volumes(pod).keySet());
    }
  }

  @Test
  void executorsHaveTheDaemonsMountsAtTheSamePaths() {
    Map<String, String> mounted = mounts(daemon, LOCAL);
    assertThat(mounts(executor, LOCAL)).isEqualTo(mounted);
    assertThat(mounted.values())
        .containsExactlyInAnyOrder(settings.get("sluice.node.directories").split(","));
    assertThat(mounts(executor, "socket")).isEqualTo(mounts(daemon, "socket"));
    assertThat(mounts(daemon, "socket"))
        .containsValue(Path.of(settings.get("sluice.node.socket")).getParent().toString());
    for (Volume volume : executor.getVolumes()) {
      assertThat(volume.getHostPath().getPath())
          .as(volume.getName())
          .isEqualTo(volumes(daemon).get(volume.getName()).getHostPath().getPath());
      assertThat(volume.getHostPath().getType())
          .as("the daemons make the directory")
          .isEqualTo("Directory");
    }
    assertThat(executor.getNodeSelector()).isEqualTo(daemon.getNodeSelector());
  }

  @Test
  void daemonAndExecutorsAreOneUser() {
    assertThat(daemon.getSecurityContext().getRunAsUser())
        .isPositive()
        .isEqualTo(executor.getSecurityContext().getRunAsUser());
    assertThat(main(executor).getSecurityContext().getRunAsUser()).isNull();
    assertThat(main(daemon).getSecurityContext().getRunAsUser()).isNull();
    assertThat(executor.getHostUsers()).isEqualTo(daemon.getHostUsers()).isTrue();
  }

  @Test
  void theDaemonsMemoryHasRoomForAllThatItMayTake() {
    assertThat(main(daemon).getEnv())
        .anySatisfy(variable -> assertThat(variable.getValue()).isEqualTo("-Xmx1g"));
    long heapAndDirect = 2 * JavaUtils.byteStringAsBytes("1g"); // Netty's limit is the heap's
    long registered =
        JavaUtils.byteStringAsBytes(settings.get("sluice.node.registration.maxBytes"));
    long applications = Long.parseLong(settings.getOrDefault("sluice.node.maxApplications", "16"));
    long queuePairs =
        8_192 * Long.parseLong(settings.getOrDefault("sluice.node.connections.max", "1024"));
    long staged = JavaUtils.byteStringAsBytes(settings.get("sluice.node.staging.maxBytes"));
    long ofTheJvm = JavaUtils.byteStringAsBytes("1g");
    Quantity limit = main(daemon).getResources().getLimits().get("memory");
    assertThat(limit.getNumericalAmount().longValueExact())
        .isGreaterThan(
            heapAndDirect + registered + applications * (staged + queuePairs) + ofTheJvm);
    assertThat(main(daemon).getResources().getRequests()).containsEntry("memory", limit);
  }

  @Test
  void bothHaveTheDevice() {
    for (PodSpec pod : List.of(daemon, executor)) {
      assertThat(main(pod).getResources().getLimits())
          .containsEntry("rdma/rdma_shared_device_a", new Quantity("1"));
    }
  }

  /** A drained daemon must not be restarted: it still serves its map outputs. */
  @Test
  void probesAskForLifeAndReadinessWhereTheDaemonAnswers() {
    Container container = main(daemon);
    assertThat(path(container.getLivenessProbe())).isEqualTo("/healthz");
    assertThat(path(container.getStartupProbe())).isEqualTo("/healthz");
    assertThat(path(container.getReadinessProbe())).isEqualTo("/readyz");
    String http = settings.getOrDefault("sluice.node.http", "127.0.0.1:7338");
    assertThat(
            List.of(
                container.getLivenessProbe(),
                container.getStartupProbe(),
                container.getReadinessProbe()))
        .extracting(Probe::getHttpGet)
        .allSatisfy(
            get -> assertThat(get.getHost() + ":" + get.getPort().getIntVal()).isEqualTo(http));
  }

  private static String path(Probe probe) {
    return probe.getHttpGet().getPath();
  }

  private static Container main(PodSpec pod) {
    return pod.getContainers().getFirst();
  }

  private static Stream<Container> containers(PodSpec pod) {
    return Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream());
  }

  private static Map<String, Volume> volumes(PodSpec pod) {
    return pod.getVolumes().stream()
        .collect(Collectors.toMap(Volume::getName, Function.identity()));
  }

  /** Paths by name, as all of the pod's containers have them. */
  private static Map<String, String> mounts(PodSpec pod, String prefix) {
    return containers(pod)
        .flatMap(container -> container.getVolumeMounts().stream())
        .filter(mount -> mount.getName().startsWith(prefix))
        .distinct()
        .collect(
            Collectors.toMap(
                VolumeMount::getName,
                VolumeMount::getMountPath,
                (a, b) -> {
                  assertThat(a).isEqualTo(b);
                  return a;
                }));
  }
}
