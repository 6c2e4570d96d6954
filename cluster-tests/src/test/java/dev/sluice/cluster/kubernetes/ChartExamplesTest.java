// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks, devices, locked memory and monitoring, as the chart's folder examples sets them. */
final class ChartExamplesTest {
  private static Chart example(String name) throws IOException {
    return Chart.render(Chart.EXAMPLES.resolve(name + ".yaml"));
  }

  @ParameterizedTest
  @CsvSource({
    "macvlan, sluice/rdma, rdma/rdma_shared_device_a",
    "sriov, sluice/sriov-rdma, nvidia.com/sriov_rdma"
  })
  void multusAddsTheNetworkOfTheDevice(String name, String network, String resource)
      throws IOException {
    Chart chart = example(name);
    assertThat(chart.pod().getMetadata().getAnnotations())
        .containsEntry("k8s.v1.cni.cncf.io/networks", network);
    assertThat(chart.pod().getSpec().getHostNetwork()).isNull();
    assertThat(chart.daemon().getResources().getLimits())
        .containsEntry(resource, new Quantity("1"))
        .hasSize(2);
  }

  @Test
  void readersReachThePortsOfTheSettingsAlone() throws IOException {
    Chart chart = example("sriov");
    NetworkPolicy policy = chart.the(NetworkPolicy.class);
    assertThat(policy.getSpec().getPodSelector().getMatchLabels())
        .isEqualTo(chart.pod().getMetadata().getLabels());
    assertThat(policy.getSpec().getPolicyTypes()).containsExactly("Ingress", "Egress");
    assertThat(policy.getSpec().getEgress()).isEmpty();
    NetworkPolicyIngressRule rule = policy.getSpec().getIngress().getFirst();
    assertThat(rule.getFrom()).hasSize(1);
    NetworkPolicyPort ports = rule.getPorts().getFirst();
    assertThat(ports.getPort().getIntVal() + "-" + ports.getEndPort())
        .isEqualTo(chart.settings().get("sluice.node.ports"));
  }

  /** With provider soft, READs come from free ports. */
  @Test
  void aPolicyAllowsReadersAllPortsUnlessTheProviderIsVerbs() throws IOException {
    Chart chart =
        Chart.render(
            Chart.EXAMPLES.resolve("macvlan.yaml"), Chart.EXAMPLES.resolve("no-device.yaml"));
    List<NetworkPolicyIngressRule> rules = chart.the(NetworkPolicy.class).getSpec().getIngress();
    assertThat(rules).hasSize(1);
    assertThat(rules.getFirst().getFrom()).isNotEmpty();
    assertThat(rules.getFirst().getPorts()).isEmpty();
    assertThat(chart.daemon().getResources().getLimits()).containsOnlyKeys("memory");
  }

  @Test
  void eachDaemonClaimsADevice() throws IOException {
    Chart chart = example("dra");
    ResourceClaimTemplate template = chart.the(ResourceClaimTemplate.class);
    assertThat(template.getSpec().getSpec().getDevices().getRequests())
        .singleElement()
        .satisfies(
            request ->
                assertThat(request.getExactly().getDeviceClassName())
                    .isEqualTo("rdma.example.com"));
    PodSpec pod = chart.pod().getSpec();
    assertThat(pod.getResourceClaims())
        .singleElement()
        .satisfies(
            claim -> {
              assertThat(claim.getResourceClaimTemplateName())
                  .isEqualTo(template.getMetadata().getName());
              assertThat(chart.daemon().getResources().getClaims())
                  .singleElement()
                  .satisfies(own -> assertThat(own.getName()).isEqualTo(claim.getName()));
            });
    assertThat(chart.daemon().getResources().getLimits()).containsOnlyKeys("memory");
  }

  @Test
  void prometheusFindsTheMonitorAndTheDaemonsPages() throws IOException {
    Chart chart = example("monitoring");
    Service service = chart.the(Service.class);
    ServiceMonitor monitor = chart.the(ServiceMonitor.class);
    assertThat(monitor.getMetadata().getLabels()).containsEntry("release", "prometheus");
    assertThat(service.getMetadata().getLabels())
        .containsAllEntriesOf(monitor.getSpec().getSelector().getMatchLabels())
        .containsEntry(monitor.getSpec().getJobLabel(), "sluice-node");
    assertThat(chart.pod().getMetadata().getLabels())
        .containsAllEntriesOf(service.getSpec().getSelector());
    assertThat(service.getSpec().getPorts())
        .singleElement()
        .satisfies(
            port -> {
              assertThat(monitor.getSpec().getEndpoints().getFirst().getPort())
                  .isEqualTo(port.getName());
              assertThat(chart.settings())
                  .containsEntry("sluice.node.http", "0.0.0.0:" + port.getPort());
            });
  }

  /**
   * Runs the container's command with a shell in place of the daemon, and with the machine's own
   * limit where root lacks CAP_SYS_RESOURCE.
   */
  @Test
  void theDaemonHasALiftedLimitAndNoCapability() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root may change the user");
    Container container = example("raise-memlock").daemon();
    assertThat(container.getCommand()).element(2).asString().startsWith("ulimit -l unlimited && ");
    String limit = output(List.of("sh", "-c", "ulimit -l unlimited 2>&-; ulimit -H -l")).getLast();
    String daemon = "sh -c 'id -u; id -g; ulimit -S -l; ulimit -H -l; echo \"$*\"' daemon";
    List<String> command = new ArrayList<>(started(container.getSecurityContext()));
    for (String word : container.getCommand()) {
      command.add(
          word.replace("/opt/sluice/bin/sluice-node", daemon)
              .replace("ulimit -l unlimited", "ulimit -l " + limit));
    }
    command.addAll(container.getArgs());
    assertThat(output(command))
        .containsExactly(
            "185",
            "185",
            limit,
            limit,
            "--conf /etc/sluice/sluice-node.conf sluice.node.host=$(NODE_ADDRESS)");
    command.replaceAll(word -> word.replace("id -u;", "grep Cap /proc/self/status;"));
    assertThat(output(command)).contains("CapPrm:\t0000000000000000", "CapEff:\t0000000000000000");
  }

  /** Returns a command that starts another one as a container: as root with these capabilities. */
  private static List<String> started(SecurityContext security) {
    assertThat(security.getRunAsUser()).isZero();
    StringBuilder bounds = new StringBuilder("-all");
    for (String capability : security.getCapabilities().getAdd()) {
      bounds.append(",+").append(capability.toLowerCase(Locale.ROOT));
    }
    return List.of(
        "sh",
        "-c",
        "ulimit -S -l 64 && exec setpriv --no-new-privs --inh-caps=-all --bounding-set=%s \"$@\""
            .formatted(bounds),
        "container");
  }

  private static List<String> output(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(text).isZero();
    return text.lines().toList();
  }
}
