// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import dev.sluice.doctor.FixLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks of Spark's settings, read from a file as spark-submit does. */
class SettingsChecksTest {
  private static final String OURS = "dev.sluice.spark.RdmaShuffleManager";
  private static final Path OWN = Path.of("/opt/sluice/sluice-spark-4-0.1.0.jar");

  @TempDir private Path directory;

  private SparkSettings settings(String text) throws IOException {
    Path file = directory.resolve("spark-defaults.conf");
    Files.writeString(file, text);
    return SparkSettings.read(Optional.of(file), Map.of());
  }

  private static Finding only(Check check) throws Exception {
    List<Finding> findings = check.findings();
    assertThat(findings).hasSize(1);
    return findings.getFirst();
  }

  @Test
  void settingsAreReadAsSparkSubmitReadsThem() throws Exception {
    SparkSettings read =
        settings(
            """
            # a comment
            spark.executor.memory            32g
            spark.executor.extraJavaOptions  -Da=b -Dc
            spark.plugins=a,\\
                b
            """);
    assertThat(read.place()).isEqualTo(directory.resolve("spark-defaults.conf").toString());
    assertThat(read.values())
        .containsOnly(
            Map.entry("spark.executor.memory", "32g"),
            Map.entry("spark.executor.extraJavaOptions", "-Da=b -Dc"),
            Map.entry("spark.plugins", "a,b"));
    Path file = Path.of(read.place());
    SparkSettings both = SparkSettings.read(Optional.of(file), Map.of("spark.plugins", "c"));
    assertThat(both.values()).as("--conf wins").containsEntry("spark.plugins", "c");
    assertThat(both.place()).isEqualTo(read.place() + " and --conf");
    assertThat(SparkSettings.read(Optional.empty(), Map.of("a", "b")).place()).isEqualTo("--conf");
    assertThat(SparkSettings.read(Optional.empty(), Map.of()).isKnown()).isFalse();
    assertThatThrownBy(() -> SparkSettings.read(Optional.of(directory.resolve("none")), Map.of()))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void theFileIsThatOfTheEnvironment() throws Exception {
    String home = directory.resolve("spark").toString();
    Path ofHome =
        Files.createDirectories(directory.resolve("spark/conf")).resolve("spark-defaults.conf");
    assertThat(SparkSettings.file(Map.of())).isEmpty();
    assertThat(SparkSettings.file(Map.of("SPARK_HOME", home))).as("it does not exist").isEmpty();
    Files.createFile(ofHome);
    assertThat(SparkSettings.file(Map.of("SPARK_HOME", home))).contains(ofHome);
    assertThat(
            SparkSettings.file(Map.of("SPARK_HOME", home, "SPARK_CONF_DIR", directory.toString())))
        .as("the other folder has none")
        .isEmpty();
  }

  /** Few users set SPARK_HOME. */
  @Test
  void sparkIsFoundByItsSubmitInThePath() throws Exception {
    Path home = Files.createDirectories(directory.resolve("spark-4"));
    Path submit = Files.createDirectories(home.resolve("bin")).resolve("spark-submit");
    Files.createFile(
        submit, PosixFilePermissions.asFileAttribute(EnumSet.allOf(PosixFilePermission.class)));
    Path links = Files.createDirectories(directory.resolve("links"));
    Files.createSymbolicLink(links.resolve("spark-submit"), submit);
    Map<String, String> path = Map.of("PATH", "/nonexistent::" + links);
    assertThat(SparkHome.of(path)).as("a wrapper").isEmpty();
    Files.createDirectories(home.resolve("jars"));
    assertThat(SparkHome.of(path)).contains(home.toRealPath());
    assertThat(SparkHome.of(Map.of("PATH", links.toString(), "SPARK_HOME", "/opt/spark")))
        .contains(Path.of("/opt/spark"));
    assertThat(SparkHome.of(Map.of())).isEmpty();
    Path conf = Files.createDirectories(home.resolve("conf"));
    Path file = Files.createFile(conf.resolve("spark-defaults.conf"));
    assertThat(SparkSettings.file(path)).contains(file.toRealPath());
  }

  @Test
  void rightSettingsAreNamed() throws Exception {
    Finding finding = only(new SettingsCheck(settings("spark.shuffle.rdma.provider soft\n")));
    assertThat(finding.level()).isEqualTo(Level.OK);
    assertThat(finding.said()).endsWith("spark-defaults.conf: spark.shuffle.rdma.provider");
    assertThat(only(new SettingsCheck(settings("spark.executor.cores 8\n"))).said())
        .endsWith("spark-defaults.conf: none");
    assertThat(
            only(new SettingsCheck(settings("spark.shuffle.rdma.defaultMemoryOverhead 1g\n")))
                .said())
        .as("the driver sets it")
        .endsWith("spark-defaults.conf: none");
    assertThat(only(new SettingsCheck(SparkSettings.NONE)).said())
        .contains("there is no spark-defaults.conf", "--properties-file");
  }

  /** A file with three mistakes is mended in one go. */
  @Test
  void eachWrongSettingIsNamedAndTheOthersHold() throws Exception {
    SparkSettings wrong =
        settings(
            """
            spark.shuffle.rdma.provder verbs
            spark.shuffle.rdma.memoryShare 2
            spark.executor.memoryOverhead 2 potatoes
            spark.executor.memory 16g
            """);
    List<Finding> findings = new SettingsCheck(wrong).findings();
    assertThat(findings).extracting(Finding::level).containsOnly(Level.FAIL);
    assertThat(findings)
        .extracting(Finding::said)
        .satisfiesExactly(
            said -> assertThat(said).contains("spark.executor.memoryOverhead", "2 potatoes"),
            said -> assertThat(said).contains("rdma.memoryShare is \"2\", but must be"),
            said -> assertThat(said).contains("did you mean spark.shuffle.rdma.provider?"));
    assertThat(findings.get(0).lines()).isEmpty();
    assertThat(findings.get(2).lines())
        .containsExactly(
            FixLine.inPlaceOf(
                "spark.shuffle.rdma.provder", "spark.shuffle.rdma.provider", "verbs"));
    assertThat(findings.get(2).lines().getFirst().text())
        .isEqualTo(
            "# remove spark.shuffle.rdma.provder, and add:\n"
                + FixLine.setting("spark.shuffle.rdma.provider", "verbs").text());
    assertThat(Contexts.conf(directory, wrong).overheadBytes())
        .as("a tenth of the heap, and not the wrong value")
        .isEqualTo(1638L << 20);
  }

  @Test
  void oursIsTheRightManager() throws Exception {
    Finding finding = only(new ManagerCheck(settings("spark.shuffle.manager " + OURS + "\n")));
    assertThat(finding.level()).isEqualTo(Level.OK);
    assertThat(only(new ManagerCheck(SparkSettings.NONE)).level()).isEqualTo(Level.OK);
  }

  @ParameterizedTest
  @CsvSource({
    "sort, Spark's own",
    "org.apache.spark.shuffle.sort.SortShuffleManager, Spark's own",
    "org.apache.spark.shuffle.celeborn.SparkShuffleManager, Apache Celeborn",
    "org.apache.spark.shuffle.RssShuffleManager, Apache Uniffle",
    "com.nvidia.spark.rapids.spark400.RapidsShuffleManager, RAPIDS",
    "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager, DataFusion Comet",
    "org.apache.spark.shuffle.sort.ColumnarShuffleManager, Gluten"
  })
  void anotherManagerIsNamedWithItsProject(String manager, String project) throws Exception {
    Finding finding = only(new ManagerCheck(settings("spark.shuffle.manager " + manager + "\n")));
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.said()).contains(manager, project);
    assertThat(finding.lines()).containsExactly(FixLine.setting("spark.shuffle.manager", OURS));
  }

  /** It may be built on RdmaShuffle, so no line replaces it. */
  @Test
  void aManagerThatIsNotKnownIsAQuestion() throws Exception {
    Finding finding = only(new ManagerCheck(settings("spark.shuffle.manager com.example.Own\n")));
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.set()).contains("dev.sluice.spark.RdmaShuffle");
    assertThat(finding.lines()).isEmpty();
  }

  @Test
  void aMissingManagerIsSparksOwn() throws Exception {
    Finding finding = only(new ManagerCheck(settings("spark.executor.cores 8\n")));
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.said()).contains("does not set spark.shuffle.manager");
    assertThat(finding.lines()).containsExactly(FixLine.setting("spark.shuffle.manager", OURS));
  }

  @Test
  void enginesThatGiveWayToNoOtherManagerAreNamed() throws Exception {
    String ours = "spark.shuffle.manager " + OURS + "\n";
    String comet = ours + "spark.plugins org.apache.spark.CometPlugin\n";
    assertThat(new ManagerCheck(settings(comet)).findings())
        .last()
        .satisfies(
            finding -> assertThat(finding.name()).isEqualTo("comet"),
            finding ->
                assertThat(finding.lines())
                    .containsExactly(FixLine.setting("spark.comet.exec.shuffle.enabled", "false")));
    assertThat(
            new ManagerCheck(settings(comet + "spark.comet.exec.shuffle.enabled false\n"))
                .findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK);
    assertThat(
            new ManagerCheck(
                    settings(
                        ours
                            + "spark.plugins org.apache.gluten.GlutenPlugin\n"
                            + "spark.shuffle.push.enabled true\n"))
                .findings())
        .extracting(Finding::name)
        .containsExactly("manager", "gluten", "push");
  }

  @Test
  void theJarIsFoundWhereAnApplicationFindsIt() throws Exception {
    SparkSettings ours = settings("spark.shuffle.manager " + OURS + "\n");
    Path installed = Path.of("/opt/spark/jars/sluice-spark-4-0.1.0.jar");
    assertThat(only(new JarCheck(List.of(installed), ours, OWN)).said())
        .isEqualTo("Sluice's jar comes from sluice-spark-4-0.1.0.jar");
    SparkSettings named =
        settings("spark.shuffle.manager " + OURS + "\nspark.jars /x.jar," + OWN + "\n");
    assertThat(only(new JarCheck(List.of(), named, OWN)).level()).isEqualTo(Level.OK);
    SparkSettings image =
        settings(
            "spark.shuffle.manager "
                + OURS
                + "\nspark.kubernetes.container.image registry/spark-sluice:4.1.3\n");
    assertThat(only(new JarCheck(List.of(), image, OWN)).level()).isEqualTo(Level.OK);
    assertThat(new JarCheck(List.of(), SparkSettings.NONE, OWN).findings()).isEmpty();
  }

  @Test
  void aMissingJarIsNamedWithOthers() throws Exception {
    SparkSettings ours =
        settings("spark.shuffle.manager " + OURS + "\nspark.jars /opt/other.jar\n");
    Finding finding = only(new JarCheck(List.of(), ours, OWN));
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.lines())
        .containsExactly(FixLine.setting("spark.jars", "/opt/other.jar," + OWN));
  }

  @Test
  void twoVersionsOfTheJarAreAFailure() throws Exception {
    List<Path> two =
        List.of(
            Path.of("/jars/sluice-spark-4-0.2.0.jar"), Path.of("/jars/sluice-spark-4-0.1.0.jar"));
    Finding finding = only(new JarCheck(two, SparkSettings.NONE, OWN));
    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.said()).endsWith("sluice-spark-4-0.1.0.jar, sluice-spark-4-0.2.0.jar");
  }

  @Test
  void nothingKeepsBlocksFromBeingReadByDefault() {
    assertThat(reads(SparkSettings.NONE)).isEmpty();
  }

  private List<Finding> reads(SparkSettings settings) {
    return new ReadsCheck(Contexts.conf(directory, settings)).findings();
  }

  @Test
  void settingsThatKeepBlocksFromBeingReadAreNamed() throws Exception {
    assertThat(reads(settings("spark.shuffle.rdma.provider off\n")))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.level()).isEqualTo(Level.WARN),
            finding ->
                assertThat(finding.lines())
                    .containsExactly(FixLine.setting("spark.shuffle.rdma.provider", "auto")));
    assertThat(reads(settings("spark.shuffle.useOldFetchProtocol true\n")))
        .singleElement()
        .satisfies(finding -> assertThat(finding.lines()).hasSize(1));
  }

  /** A line to paste would expose the bytes of blocks without a decision. */
  @ParameterizedTest
  @ValueSource(strings = {"spark.network.crypto.enabled", "spark.ssl.rpc.enabled"})
  void noLineGivesUpEncryption(String key) throws Exception {
    assertThat(reads(settings(key + " true\n")))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.said()).contains("Spark encrypts its network"),
            finding -> assertThat(finding.set()).contains("docs/security.md"),
            finding -> assertThat(finding.lines()).isEmpty());
  }

  private List<Finding> node(String text) throws IOException {
    SparkSettings settings = settings(text);
    return new NodeConflictCheck(settings, Contexts.conf(directory, settings)).findings();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.shuffle.service.enabled, true, false",
    "spark.shuffle.rdma.provider, off, auto",
    "spark.ssl.rpc.enabled, true, false",
    "spark.shuffle.sort.io.plugin.class, com.example.Remote,"
        + " org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO"
  })
  void settingsThatExcludeNodeDaemonsAreNamed(String key, String value, String wanted)
      throws Exception {
    String setting = key + " " + value + "\n";
    assertThat(node(setting)).as("without node=on").isEmpty();
    assertThat(node("spark.shuffle.rdma.node on\n")).isEmpty();
    assertThat(node("spark.shuffle.rdma.node on\n" + setting))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.level()).isEqualTo(Level.FAIL),
            finding -> assertThat(finding.said()).contains(key, "applications do not start"),
            finding -> assertThat(finding.lines()).containsExactly(FixLine.setting(key, wanted)));
  }

  @Test
  void nodeDaemonsNeedReads() throws Exception {
    assertThat(node("spark.shuffle.rdma.node required\nspark.network.crypto.enabled true\n"))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.said()).contains("no blocks are READ"),
            finding -> assertThat(finding.lines()).isEmpty());
  }

  @Test
  void nativeAccessIsAddedToTheOptionsOfSpark40() throws Exception {
    SparkSettings settings = settings("spark.executor.extraJavaOptions -XX:+UseParallelGC\n");
    assertThat(new NativeAccessCheck("4.0.4", settings).findings())
        .flatExtracting(Finding::lines)
        .containsExactly(
            FixLine.setting("spark.driver.extraJavaOptions", "--enable-native-access=ALL-UNNAMED"),
            FixLine.setting(
                "spark.executor.extraJavaOptions",
                "-XX:+UseParallelGC --enable-native-access=ALL-UNNAMED"));
    assertThat(new NativeAccessCheck("4.1.0", settings).findings()).isEmpty();
    SparkSettings ofAll =
        settings(
            """
            spark.driver.defaultJavaOptions --enable-native-access=ALL-UNNAMED
            spark.executor.defaultJavaOptions --enable-native-access=ALL-UNNAMED
            """);
    assertThat(new NativeAccessCheck("4.0.4", ofAll).findings()).isEmpty();
    assertThat(new NativeAccessCheck("4.0.4", SparkSettings.NONE).findings()).isEmpty();
  }
}
