// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.DeviceFilter;
import dev.sluice.rdma.verbs.GidPolicy;
import dev.sluice.rdma.verbs.GidPolicy.AddressRange;
import dev.sluice.rdma.verbs.GidPolicy.Family;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SluiceConfTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void laterChangesOfTheConfigurationHaveNoEffect() {
    conf.set("spark.shuffle.rdma.provider", "soft").set("spark.shuffle.rdma.retryCount", "3");
    SluiceConf made = new SluiceConf(conf);
    conf.set("spark.shuffle.rdma.provider", "verbs");
    assertThat(made.provider()).isEqualTo("soft");
    assertThat(made.transferOptions().connection().retryCount()).isEqualTo(3);
  }

  @Test
  void anUnknownKeyIsRefusedWithTheNearestOne() {
    SparkConf misspelt = new SparkConf(false).set("spark.shuffle.rdma.provder", "soft");
    assertThatThrownBy(() -> new SluiceConf(misspelt))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no such key (did you mean spark.shuffle.rdma.provider?); allowed");
  }

  @Test
  void limitsThatAreSetWinOverDerivedOnes() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "5m")
        .set("spark.shuffle.rdma.registration.maxBytes", "7m");
    SluiceConf made = new SluiceConf(conf);
    assertThat(made.transferOptions().bufferPoolBytes()).isEqualTo(5 << 20);
    assertThat(made.registrationMaxBytes()).isEqualTo(7 << 20);
  }

  /** Executors of another resource profile have that profile's heap, and this overhead. */
  @Test
  void theDriverAnnouncesTheOverheadOfTheDefaultProfile() {
    conf.set("spark.executor.memory", "2g").set("spark.executor.memoryOverheadFactor", "0.5");
    SluiceConf.announceOverhead(conf);
    assertThat(conf.get("spark.shuffle.rdma.defaultMemoryOverhead")).isEqualTo("1024m");
    conf.set("spark.executor.memory", "16g");
    assertThat(new SluiceConf(conf, Path.of("/nonexistent"), Map.of()).budget())
        .isEqualTo(new MemoryBudget(320 << 20, 128 << 20, 64 << 20));
  }

  @Test
  void aCopiedConfigurationIsAnnouncedAnew() {
    SluiceConf.announceOverhead(conf);
    conf.set("spark.executor.memory", "2g").set("spark.executor.memoryOverheadFactor", "0.5");
    SluiceConf.announceOverhead(conf);
    assertThat(conf.get("spark.shuffle.rdma.defaultMemoryOverhead")).isEqualTo("1024m");
  }

  @Test
  void theDataPortIsTriedUpwardsAsSparksPortsAre() {
    assertThat(new SluiceConf(conf).softOptions().port()).isZero();
    conf.set("spark.shuffle.rdma.dataPort", "7400").set("spark.port.maxRetries", "5");
    assertThat(new SluiceConf(conf).softOptions().port()).isEqualTo(7400);
    assertThat(new SluiceConf(conf).softOptions().portRetries()).isEqualTo(5);
  }

  @Test
  void messagesToTheDriverHaveTheTimeOfSparksOwn() {
    assertThat(new SluiceConf(conf).rpcTimeoutMs()).isEqualTo(120_000);
    conf.set("spark.network.timeout", "90s");
    assertThat(new SluiceConf(conf).rpcTimeoutMs()).isEqualTo(90_000);
    conf.set("spark.rpc.askTimeout", "70s");
    assertThat(new SluiceConf(conf).rpcTimeoutMs()).isEqualTo(70_000);
  }

  @Test
  void theRegistrationModeIsOneOfTheRegistrys() {
    assertThat(new SluiceConf(conf).registrationMode()).isEqualTo(RegistrationMode.AUTO);
    for (RegistrationMode mode : RegistrationMode.values()) {
      conf.set("spark.shuffle.rdma.registration.mode", mode.toString());
      assertThat(new SluiceConf(conf).registrationMode()).isEqualTo(mode);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.authenticate.enableSaslEncryption",
        "spark.ssl.rpc.enabled"
      })
  void nothingIsReadWhereSparkEncryptsItsNetwork(String key) {
    assertThat(new SluiceConf(conf).readsForbidden()).isFalse();
    conf.set(key, "true");
    assertThat(new SluiceConf(conf).readsForbidden()).isTrue();
    conf.set("spark.io.encryption.enabled", "true");
    SluiceConf encryptedFiles = new SluiceConf(conf);
    assertThat(encryptedFiles.readsForbidden()).as("nothing authenticates them").isTrue();
    assertThat(encryptedFiles.registrationMaxBytes()).isZero();

    conf.set("spark.shuffle.rdma.allowPlaintext", "true");
    SluiceConf allowed = new SluiceConf(conf);
    assertThat(allowed.readsForbidden()).isFalse();
    assertThat(allowed.registrationMaxBytes()).isPositive();
  }

  /** A word that is not understood must not expose bytes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.authenticate.enableSaslEncryption",
        "spark.ssl.rpc.enabled",
        "spark.shuffle.useOldFetchProtocol"
      })
  void aSwitchThatIsNeitherTrueNorFalseIsRefused(String key) {
    conf.set(key, "yes");
    assertThatThrownBy(() -> new SluiceConf(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(key + " is \"yes\", but must be true or false");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRUE", " true", "True "})
  void aSwitchIsParsedAsSparkParsesIt(String text) {
    conf.set("spark.network.crypto.enabled", text);
    assertThat(new SluiceConf(conf).readsForbidden()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spark.authenticate", "spark.io.encryption.enabled", "spark.ssl.enabled"})
  void settingsThatDoNotEncryptTheNetworkAllowReads(String key) {
    conf.set(key, "true");
    assertThat(new SluiceConf(conf).readsForbidden()).isFalse();
  }

  @Test
  void theOldFetchProtocolSwitchesReadingOff() {
    assertThat(new SluiceConf(conf).offReason()).isEmpty();
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertThat(new SluiceConf(conf).offReason())
        .hasValueSatisfying(why -> assertThat(why).contains("spark.shuffle.useOldFetchProtocol"));
  }

  @Test
  void anExecutorWithANodeMayRegisterMapOutputsThatTheNodeRefuses() {
    assertThat(new SluiceConf(conf).node()).isEmpty();
    conf.set("spark.shuffle.rdma.node", "required")
        .set("spark.shuffle.rdma.node.incarnation", "ab")
        .set("spark.shuffle.rdma.node.socket", "/there")
        .set("spark.shuffle.rdma.node.user", "yarn")
        .set("spark.shuffle.rdma.node.timeout", "2s");
    SluiceConf made = new SluiceConf(conf);
    assertThat(made.node())
        .contains(
            new NodeAccess(
                "ab",
                Path.of("/there"),
                Optional.of("yarn"),
                new NodeClient.Limits(Duration.ofSeconds(2), Duration.ofSeconds(120))));
    assertThat(made.registrationMaxBytes()).isPositive();
    assertThat(made.stagingMaxBytes()).isPositive();
  }

  @Test
  void theNodeManagersSocketIsTheDefault() {
    conf.set("spark.shuffle.rdma.node", "on");
    String given =
        Base64.getEncoder().encodeToString("/disk/node.sock".getBytes(StandardCharsets.UTF_8));
    Map<String, String> yarns = Map.of("NM_AUX_SERVICE_sluice_node", given);
    assertThat(socket(Map.of())).isEqualTo(Path.of("/run/sluice/node.sock"));
    assertThat(socket(yarns)).isEqualTo(Path.of("/disk/node.sock"));

    conf.set("spark.shuffle.rdma.node.socket", "/set/node.sock");
    assertThat(socket(yarns)).isEqualTo(Path.of("/set/node.sock"));
  }

  private Path socket(Map<String, String> environment) {
    return new SluiceConf(conf, Path.of("/"), environment).node().orElseThrow().socket();
  }

  @Test
  void runsOfAnApplicationHaveNamesOfTheirOwn() {
    conf.set("spark.app.id", "app-1").set("spark.app.startTime", "17");
    assertThat(new SluiceConf(conf).application()).isEqualTo("app-1 since 17");
    conf.set("spark.shuffle.rdma.node", "required")
        .set("spark.shuffle.rdma.node.incarnation", "ab");
    assertThat(new SluiceConf(conf).application()).isEqualTo("app-1-ab");
  }

  @Test
  void theTasksOfAnExecutorGatherInHalfOfItsBuffers() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "64m").set("spark.task.cpus", "2");
    assertThat(new SluiceConf(conf).readOptions(8).gatherBytes()).isEqualTo(8 << 20);
  }

  @Test
  void aTaskGathersNoMoreThanSparksIteratorsHaveInFlight() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "1g").set("spark.reducer.maxSizeInFlight", "5");
    assertThat(new SluiceConf(conf).readOptions(1).gatherBytes()).isEqualTo(5 << 20);
  }

  /** Local mode ignores the setting, and standalone clusters do not need it. */
  @Test
  void theCoresThatAnExecutorHasCountAndNotThoseThatAreConfigured() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "64m").set("spark.executor.cores", "2");
    assertThat(new SluiceConf(conf).readOptions(8).gatherBytes()).isEqualTo(4 << 20);
    conf.remove("spark.executor.cores");
    assertThat(new SluiceConf(conf).readOptions(16).gatherBytes()).isEqualTo(2 << 20);
  }

  @Test
  void lateBatchesAreHedgedUnlessThatIsOff() {
    assertThat(new SluiceConf(conf).readOptions(1).hedge()).isTrue();
    conf.set("spark.shuffle.rdma.read.hedge", "false");
    assertThat(new SluiceConf(conf).readOptions(1).hedge()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"gather", "verifyChecksums"})
  void nothingIsGatheredThatIsNotVerified(String key) {
    conf.set("spark.shuffle.rdma." + key, "false");
    assertThat(new SluiceConf(conf).readOptions(1).gatherBytes()).isZero();
  }

  private VerbsOptions verbsOptions(Map<String, String> environment) {
    return new SluiceConf(conf, Path.of("/"), environment).verbsOptions();
  }

  @Test
  void optionsAreTheDefaultsWhereNothingIsSet() {
    assertThat(verbsOptions(Map.of()).with(o -> o.registeredBytes = 0))
        .isEqualTo(VerbsOptions.DEFAULT);
    SluiceConf made = new SluiceConf(conf.set("spark.shuffle.rdma.buffers.maxBytes", "48m"));
    assertThat(made.transferOptions()).isEqualTo(TransferOptions.DEFAULT);
    assertThat(made.readOptions(1)).isEqualTo(ReadOptions.DEFAULT);
  }

  @Test
  void lockedMemoryMustSufficeForRegistrationByVerbs() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "5m")
        .set("spark.shuffle.rdma.registration.maxBytes", "70m")
        .set("spark.shuffle.rdma.staging.maxBytes", "4m")
        .set("spark.shuffle.rdma.connections.max", "256");
    long queuePairs = 256 * (PageSize.roundUp(256 * 64 + 4096) + PageSize.roundUp(4096) + 2 * 4096);
    assertThat(verbsOptions(Map.of()).registeredBytes())
        .isEqualTo(((5 + 70 + 4) << 20) + queuePairs);
    conf.set("spark.shuffle.rdma.registration.mode", "odp");
    assertThat(verbsOptions(Map.of()).registeredBytes())
        .as("partition tables are pinned, whatever their data are")
        .isEqualTo(((5 + 70 + 4) << 20) + queuePairs);
  }

  @Test
  void verbsOptionsHaveTheirSettings() {
    conf.set("spark.shuffle.rdma.devices", "^=mlx5_3:1")
        .set("spark.shuffle.rdma.gid.index", "3")
        .set("spark.shuffle.rdma.gid.roceVersion", "1")
        .set("spark.shuffle.rdma.gid.addrFamily", "ipv6")
        .set("spark.shuffle.rdma.gid.addrRange", "2001:db8::/32")
        .set("spark.shuffle.rdma.trafficClass", "96")
        .set("spark.shuffle.rdma.serviceLevel", "2")
        .set("spark.shuffle.rdma.pkey", "0x8001")
        .set("spark.shuffle.rdma.pathMtu", "1024")
        .set("spark.shuffle.rdma.hopLimit", "7")
        .set("spark.shuffle.rdma.connect", "cm");
    VerbsOptions options = verbsOptions(Map.of());
    assertThat(options.devices()).hasToString("^=mlx5_3:1");
    assertThat(options.gid())
        .isEqualTo(new GidPolicy(3, 1, Family.IPV6, AddressRange.parse("2001:db8::/32")));
    assertThat(options.trafficClass()).isEqualTo(96);
    assertThat(options.serviceLevel()).isEqualTo(2);
    assertThat(options.pKey()).isEqualTo(0x8001);
    assertThat(options.pathMtu()).isEqualTo(1024);
    assertThat(options.hopLimit()).isEqualTo(7);
    assertThat(options.connect()).isEqualTo(ConnectMode.CM);
  }

  @Test
  void executorsSpreadOverPortsThatAreNamedForThem() {
    Map<String, String> named = Map.of("NCCL_IB_HCA", "mlx5_0,mlx5_1");
    assertThat(verbsOptions(named).spreads()).isFalse();
    conf.set("spark.shuffle.rdma.devices", "mlx5_0,mlx5_1");
    assertThat(verbsOptions(named).spreads()).isTrue();
  }

  @Test
  void variablesOfOtherSoftwareCountWhereAKeyIsNotSet() {
    conf.set("spark.shuffle.rdma.trafficClass", "auto");
    VerbsOptions options =
        verbsOptions(
            Map.of(
                "NCCL_IB_HCA", "mlx5_1",
                "UCX_NET_DEVICES", "mlx5_2:1",
                "NCCL_IB_GID_INDEX", "5",
                "NCCL_IB_TC", "96",
                "NCCL_IB_SL", "4"));
    assertThat(options.devices()).hasToString("mlx5_1");
    assertThat(options.gid().index()).isEqualTo(5);
    assertThat(options.trafficClass()).isEqualTo(VerbsOptions.AUTO);
    assertThat(options.serviceLevel()).isEqualTo(4);
  }

  @Test
  void devicesOfUcxAreWholeNames() {
    assertThat(verbsOptions(Map.of("UCX_NET_DEVICES", "mlx5_2:1,mlx5_3:1")).devices())
        .hasToString("=mlx5_2:1,mlx5_3:1");
    assertThat(verbsOptions(Map.of("UCX_NET_DEVICES", "all")).devices())
        .isEqualTo(DeviceFilter.ANY);
  }

  @Test
  void variablesThatSayNothingOrCannotBeReadAreLeftAlone() {
    VerbsOptions options =
        verbsOptions(
            Map.of(
                "NCCL_IB_HCA", "mlx5_0:zero",
                "NCCL_IB_GID_INDEX", "-1",
                "NCCL_IB_TC", "256",
                "NCCL_IB_SL", ""));
    assertThat(options.devices()).isEqualTo(DeviceFilter.ANY);
    assertThat(options.gid().index()).isEqualTo(VerbsOptions.AUTO);
    assertThat(options.trafficClass()).isEqualTo(VerbsOptions.AUTO);
    assertThat(options.serviceLevel()).isZero();
  }
}
