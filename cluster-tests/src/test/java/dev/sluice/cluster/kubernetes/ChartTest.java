// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import dev.sluice.node.NodeOptions;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The chart in {@code conf/helm}, rendered with its defaults and with each file of its folder
 * examples.
 */
final class ChartTest {
  /** Templates of the files in conf/kubernetes. */
  private static final Map<String, List<String>> PLAIN =
      Map.of(
          "sluice-node-config.yaml", List.of("config.yaml"),
          "sluice-node.yaml", List.of("serviceaccount.yaml", "daemonset.yaml"));

  @TempDir private Path directory;

  static Stream<Path> values() throws IOException {
    try (Stream<Path> examples = Files.list(Chart.EXAMPLES)) {
      return Stream.concat(
          Stream.of(Chart.DIRECTORY.resolve("values.yaml")), examples.sorted().toList().stream());
    }
  }

  private Path file(String values) throws IOException {
    return Files.writeString(directory.resolve("values.yaml"), values);
  }

  @Test
  void helmFindsNothingToMend() {
    LintResult result = new Helm(Chart.DIRECTORY).lint().strict().quiet().call();
    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void theVersionIsThatOfThePom() throws IOException {
    String version = Images.version("sluice", Path.of("../pom.xml"));
    assertThat(Chart.DIRECTORY.resolve("Chart.yaml"))
        .content()
        .contains("\nversion: " + version + "\n", "\nappVersion: " + version + "\n");
    assertThat(Chart.render().daemon().getImage()).isEqualTo("sluice-node:" + version);
  }

  /** {@code mvn test -Dtest=ChartTest -Dsluice.docs.write=true} writes the manifests. */
  @Test
  void thePlainManifestsAreTheDefaultRendering() throws IOException {
    Chart chart = Chart.render();
    assertThat(chart.objects()).hasSize(3);
    for (Map.Entry<String, List<String>> plain : PLAIN.entrySet()) {
      Path file = Manifests.DIRECTORY.resolve(plain.getKey());
      if (Boolean.getBoolean("sluice.docs.write")) {
        Files.writeString(file, chart.file(plain.getValue()));
      }
      assertThat(Files.readString(file)).isEqualTo(chart.file(plain.getValue()));
    }
  }

  @Test
  void aFieldThatTheApiDoesNotHaveIsAnError() {
    assertThatThrownBy(
            () ->
                Manifests.object(
                    "{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {hostNetwork: true}}}"))
        .isInstanceOf(UnrecognizedPropertyException.class)
        .hasMessageContaining("hostNetwork");
    assertThatThrownBy(() -> Manifests.object("{apiVersion: v1, kind: DaemonSet}"))
        .hasMessageContaining("DaemonSet is not of v1");
  }

  @ParameterizedTest
  @MethodSource("values")
  void allObjectsHaveTheReleasesNameAndLabels(Path values) throws IOException {
    assertThat(Chart.render(values).objects())
        .isNotEmpty()
        .allSatisfy(object -> assertThat(object.getMetadata().getName()).isEqualTo("sluice-node"))
        .extracting(HasMetadata::getMetadata)
        .allSatisfy(metadata -> assertThat(metadata.getLabels()).containsAllEntriesOf(labels()));
  }

  private static Map<String, String> labels() {
    return Map.of(
        "app.kubernetes.io/name", "sluice-node", "app.kubernetes.io/instance", "sluice-node");
  }

  @ParameterizedTest
  @MethodSource("values")
  void theDaemonTakesItsSettings(Path values) throws IOException {
    Chart chart = Chart.render(values);
    Map<String, String> settings = chart.settings();
    assertThatCode(() -> NodeOptions.of(settings)).doesNotThrowAnyException();
    boolean ofTheHost = Boolean.TRUE.equals(chart.pod().getSpec().getHostNetwork());
    assertThat(chart.daemon().getArgs()).contains("sluice.node.host=$(NODE_ADDRESS)");
    assertThat(chart.daemon().getEnv().getFirst().getValueFrom().getFieldRef().getFieldPath())
        .isEqualTo(ofTheHost ? "status.hostIP" : "status.podIP");
  }

  @ParameterizedTest
  @MethodSource("values")
  void theDaemonSetHasAllThatItsPodsName(Path values) throws IOException {
    Chart chart = Chart.render(values);
    PodTemplateSpec pod = chart.pod();
    assertThat(chart.the(DaemonSet.class).getSpec().getSelector().getMatchLabels())
        .isEqualTo(labels());
    assertThat(pod.getMetadata().getLabels()).containsAllEntriesOf(labels());
    PodSpec spec = pod.getSpec();
    assertThat(spec.getServiceAccountName())
        .isEqualTo(chart.the(ServiceAccount.class).getMetadata().getName());
    assertThat(spec.getAutomountServiceAccountToken()).isFalse();
    assertThat(spec.getHostUsers()).isTrue();
    List<String> volumes = spec.getVolumes().stream().map(Volume::getName).toList();
    for (Container container :
        Stream.concat(spec.getInitContainers().stream(), spec.getContainers().stream()).toList()) {
      assertThat(container.getVolumeMounts()).extracting(VolumeMount::getName).isSubsetOf(volumes);
      assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
      assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsOnly("ALL");
    }
    assertThat(spec.getVolumes().getLast().getConfigMap().getName())
        .isEqualTo(chart.the(ConfigMap.class).getMetadata().getName());
  }

  @ParameterizedTest
  @MethodSource("values")
  void probesAskWhereTheDaemonAnswers(Path values) throws IOException {
    Chart chart = Chart.render(values);
    Container daemon = chart.daemon();
    String http = chart.settings().get("sluice.node.http");
    boolean ofTheHost = Boolean.TRUE.equals(chart.pod().getSpec().getHostNetwork());
    for (Probe probe :
        List.of(daemon.getStartupProbe(), daemon.getLivenessProbe(), daemon.getReadinessProbe())) {
      HTTPGetAction get = probe.getHttpGet();
      assertThat(get.getHost()).isEqualTo(ofTheHost ? "127.0.0.1" : null);
      assertThat(http)
          .isIn(
              "0.0.0.0:" + get.getPort().getIntVal(),
              get.getHost() + ":" + get.getPort().getIntVal());
    }
  }

  @Test
  void podsAreReplacedWhenTheirSettingsChange() throws IOException {
    String changed = "settings: {sluice.node.staging.maxBytes: 128m}";
    assertThat(checksum(Chart.render(file(changed)))).isNotEqualTo(checksum(Chart.render()));
    String others = "{priorityClassName: system-node-critical, terminationGracePeriodSeconds: 60}";
    Chart chart = Chart.render(file(others));
    assertThat(checksum(chart)).isEqualTo(checksum(Chart.render()));
    assertThat(chart.pod().getSpec().getPriorityClassName()).isEqualTo("system-node-critical");
  }

  private static String checksum(Chart chart) {
    return chart.pod().getMetadata().getAnnotations().get("checksum/config");
  }

  @Test
  void numbersStayWhole() throws IOException {
    Chart chart =
        Chart.render(file("{user: 1000660000, settings: {sluice.node.maxMapOutputs: 2000000}}"));
    assertThat(chart.pod().getSpec().getSecurityContext().getRunAsUser()).isEqualTo(1_000_660_000);
    assertThat(chart.pod().getSpec().getInitContainers().getFirst().getCommand().getLast())
        .startsWith("chown 1000660000:1000660000 /data1 /data2 /run/sluice && ");
    assertThat(chart.settings()).containsEntry("sluice.node.maxMapOutputs", "2000000");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {user: 0}                                                    | /user
          {disks: []}                                                  | /disks
          {disks: [{hostPath: mnt, mountPath: /data1}]}                | /disks/0/hostPath
          {settings: {sluice.node.host: 192.0.2.1}}                    | sluice.node.host
          {settings: {spark.shuffle.rdma.node: "on"}}                  | spark.shuffle.rdma.node
          {settings: {sluice.node.provider: "a\\nsluice.node.host=b"}} | /settings/sluice.node.provider
          {hostnetwork: false}                                         | hostnetwork
          {ports: 7340}                                                | /ports
          {rdma: {networks: sluice/rdma}}                              | /rdma/networks
          {rdma: {deviceClass: rdma.example.com}}                      | /rdma/resource
          {networkPolicy: {enabled: true}}                             | /networkPolicy/enabled
          {serviceMonitor: {interval: often}}                          | /serviceMonitor/interval
          """)
  void theSchemaRefuses(String values, String message) {
    assertThatThrownBy(() -> Chart.render(file(values)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(message);
  }
}
