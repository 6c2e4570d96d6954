// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.k8s.KubernetesConf$;
import org.apache.spark.deploy.k8s.KubernetesDriverConf;
import org.apache.spark.deploy.k8s.KubernetesExecutorConf;
import org.apache.spark.deploy.k8s.SparkPod;
import org.apache.spark.deploy.k8s.submit.JavaMainAppResource;
import org.apache.spark.deploy.k8s.submit.KubernetesDriverBuilder;
import org.apache.spark.resource.ResourceProfile$;
import org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;

/** The pods that Spark would ask the API server for, made from the templates. */
final class PodTemplatesTest {
  /** not requested */
  private KubernetesClient client;

  private SparkConf conf;

  @BeforeEach
  void open() throws Exception {
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withMasterUrl("https://192.0.2.1")
                    .withNamespace("spark")
                    .build())
            .build();
    conf =
        new SparkConf(false)
            .setAppName("templates")
            .set("spark.driver.host", "192.0.2.2")
            .set("spark.driver.port", "7078")
            .set("spark.kubernetes.container.image", "spark:4.2.0");
    Path defaults = Manifests.DIRECTORY.resolve("spark-defaults.conf");
    Map<String, String> given = Manifests.properties(Files.readString(defaults));
    given.replaceAll((key, value) -> key.endsWith("TemplateFile") ? inThisTree(value) : value);
    given.forEach(conf::set);
  }

  private static String inThisTree(String file) {
    return Path.of("..").toAbsolutePath().normalize().resolve(file).toString();
  }

  @AfterEach
  void close() {
    client.close();
  }

  private SparkPod executor() {
    KubernetesExecutorConf executor =
        KubernetesConf$.MODULE$.createExecutorConf(
            conf, "1", "spark-application", Option.empty(), 0);
    return new KubernetesExecutorBuilder()
        .buildFromFeatures(
            executor,
            new SecurityManager(conf, Option.empty(), null),
            client,
            ResourceProfile$.MODULE$.getOrCreateDefaultProfile(conf))
        .pod();
  }

  @Test
  void executorsWriteWhereTheirNodesBlockServerLinks() {
    Container container = executor().container();
    assertThat(container.getEnv())
        .filteredOn(variable -> variable.getName().equals("SPARK_LOCAL_DIRS"))
        .singleElement()
        .extracting(EnvVar::getValue)
        .isIn("/data1,/data2", "/data2,/data1"); // Spark mixes them, for each executor.
    assertThat(executor().pod().getSpec().getVolumes())
        .filteredOn(volume -> volume.getName().startsWith("spark-local-dir-"))
        .hasSize(2)
        .allSatisfy(volume -> assertThat(volume.getHostPath()).isNotNull())
        .extracting(Volume::getEmptyDir)
        .containsOnlyNulls();
  }

  @Test
  void sparkKeepsTheTemplatesSettings() {
    PodSpec pod = executor().pod().getSpec();
    Container container = executor().container();
    assertThat(pod.getSecurityContext().getRunAsUser()).isEqualTo(185);
    assertThat(pod.getNodeSelector()).containsEntry("sluice-node", "true");
    assertThat(container.getResources().getLimits())
        .containsEntry("rdma/rdma_shared_device_a", new Quantity("1"))
        .containsKey("memory");
    assertThat(container.getVolumeMounts())
        .extracting(VolumeMount::getMountPath)
        .contains(Path.of(conf.get("spark.shuffle.rdma.node.socket")).getParent().toString());
  }

  @Test
  void withoutTheTemplateThereIsAnEmptyDir() {
    conf.remove("spark.kubernetes.executor.podTemplateFile");
    assertThat(executor().pod().getSpec().getVolumes())
        .filteredOn(volume -> volume.getName().startsWith("spark-local-dir-"))
        .isNotEmpty()
        .allSatisfy(volume -> assertThat(volume.getEmptyDir()).isNotNull());
  }

  @Test
  void driversAreOfTheSameUserAndNeedNothing() {
    conf.remove("spark.driver.host"); // the cluster decides it
    KubernetesDriverConf driver =
        KubernetesConf$.MODULE$.createDriverConf(
            conf,
            "spark-application",
            new JavaMainAppResource(Option.empty()),
            "Main",
            new String[0],
            Option.<String>empty());
    SparkPod pod = new KubernetesDriverBuilder().buildFromFeatures(driver, client).pod();
    assertThat(pod.pod().getSpec().getSecurityContext().getRunAsUser()).isEqualTo(185);
    assertThat(pod.container().getResources().getLimits())
        .doesNotContainKey("rdma/rdma_shared_device_a");
  }
}
