// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.doctor.NodeConflict;
import dev.sluice.doctor.Platform;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleDataIOUtils$;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes that a driver's manager makes to Spark's configuration for node daemons. */
class NodeConfigurationTest {
  private final SparkConf conf = new SparkConf(false).set(NodeConfiguration.NODE, "required");

  /** Set by the driver: the overhead that Spark grants executors. */
  private static final String OVERHEAD = "spark.shuffle.rdma.defaultMemoryOverhead";

  private RdmaShuffle create(boolean isDriver, String lack) {
    IndexShuffleBlockResolver stock = new IndexShuffleBlockResolver(conf);
    return RdmaShuffle.create(conf, isDriver, stock, lack);
  }

  private ShuffleDataIO plugin() {
    return ShuffleDataIOUtils$.MODULE$.loadShuffleDataIO(conf);
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "required"})
  void sparkIsToldThatMapOutputsOutliveTheirExecutors(String node) {
    conf.set(NodeConfiguration.NODE, node);
    create(true, "").close();
    assertThat(plugin().driver().supportsReliableStorage()).isTrue();
    assertThat(plugin().executor()).isInstanceOf(LocalDiskShuffleExecutorComponents.class);
  }

  @Test
  void sparksOwnPluginBecomesOurs() {
    conf.set("spark.shuffle.sort.io.plugin.class", LocalDiskShuffleDataIO.class.getName());
    create(true, "").close();
    assertThat(plugin()).isInstanceOf(NodeShuffleDataIO.class);
  }

  @Test
  void theDoctorKnowsOurPluginByItsName() {
    assertThat(NodeConflict.OUR_PLUGIN).isEqualTo(NodeShuffleDataIO.class.getName());
  }

  @Test
  void withoutOurManagerThePluginPromisesNothing() {
    conf.set("spark.shuffle.sort.io.plugin.class", NodeShuffleDataIO.class.getName());
    assertThat(plugin().driver().supportsReliableStorage()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.dynamicAllocation.shuffleTracking.enabled",
        "spark.shuffle.readHostLocalDisk",
        "spark.storage.decommission.shuffleBlocks.enabled"
      })
  void settingsThatKeepOrSeekBlocksAtExecutorsAreTurnedOff(String key) {
    conf.set(key, "true");
    create(true, "").close();
    assertThat(conf.get(key)).isEqualTo("false");
  }

  @Test
  void eachRunHasItsOwnName() {
    create(true, "").close();
    String incarnation = conf.get(NodeConfiguration.INCARNATION);
    assertThat(incarnation).hasSize(16);
    create(true, "").close();
    assertThat(conf.get(NodeConfiguration.INCARNATION)).isNotEqualTo(incarnation);
  }

  /** The configuration is still the driver's own, and executors receive it as it is. */
  @ParameterizedTest
  @CsvSource({"required, false", "off, true"})
  void nothingElseIsChanged(String node, boolean isDriver) {
    conf.set(NodeConfiguration.NODE, node);
    SparkConf before = conf.clone();
    create(isDriver, "").close();
    assertThat(conf.contains(OVERHEAD)).isEqualTo(isDriver);
    conf.remove(OVERHEAD).remove(Platform.DRIVER_VERSION);
    assertThat(conf.getAll()).containsExactlyInAnyOrder(before.getAll());
  }

  @Test
  void theNameOfAnotherRunGoesWithoutNodes() {
    conf.set(NodeConfiguration.NODE, "off").set(NodeConfiguration.INCARNATION, "of another run");
    create(true, "").close();
    assertThat(conf.contains(NodeConfiguration.INCARNATION)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.shuffle.service.enabled, true",
    "spark.shuffle.sort.io.plugin.class, org.example.OtherDataIO",
    "spark.shuffle.rdma.provider, off",
    "spark.ssl.rpc.enabled, true",
    "spark.shuffle.useOldFetchProtocol, true"
  })
  void incompatibleSettingsAreRefusedWithTheReason(String key, String value) {
    conf.set(key, value);
    assertThatThrownBy(() -> create(true, ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("spark.shuffle.rdma.node is \"required\", but ", key);
  }

  @Test
  void anEncryptedNetworkIsRefusedUnlessReadsAreAllowedAllTheSame() {
    conf.set("spark.network.crypto.enabled", "true");
    assertThatThrownBy(() -> create(true, ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll(
            "spark.shuffle.rdma.node is \"required\", but ",
            "Spark encrypts its network, and spark.shuffle.rdma.allowPlaintext is not set");
    conf.set("spark.shuffle.rdma.allowPlaintext", "true");
    create(true, "").close();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.network.crypto.authEngineVersion, 2",
    "spark.network.crypto.cipher, AES/GCM/NoPadding"
  })
  void anEncryptionThatNodesDoNotHaveIsRefusedWithTheReason(String key, String value) {
    conf.set(key, value);
    create(true, "").close(); // daemons do not encrypt
    conf.set("spark.network.crypto.enabled", "true")
        .set("spark.shuffle.rdma.allowPlaintext", "true");
    assertThatThrownBy(() -> create(true, ""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("spark.shuffle.rdma.node is \"required\", but ", key, value);
  }

  @Test
  void aJvmThatIsTooOldIsRefusedWithTheReason() {
    String lack = Platform.lack(17, "4.2.0");
    assertThatThrownBy(() -> create(true, lack))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("spark.shuffle.rdma.node is \"required\", but ", lack);
  }

  /** If the manager failed, executors would be launched again and again. */
  @Test
  void onAnExecutorWithSuchAJvmTheTasksFail() {
    String lack = Platform.lack(17, "4.2.0");
    OpenWriter writer = new OpenWriter();
    try (RdmaShuffle shuffle = create(false, lack)) {
      assertThatThrownBy(() -> shuffle.registering(writer, 0, 0, null))
          .hasMessageContainingAll("spark.shuffle.rdma.node is \"required\", but ", lack);
    }
    assertThat(writer.stoppedAs).isFalse();
  }
}
