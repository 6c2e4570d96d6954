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
    assertThat(Contexts.conf(directory, wrong).grant().overheadBytes())
        .as("a tenth of the heap in whole MiB, and not the wrong value")
        .isEqualTo(1638L << 20);
  }

  /** A line that is refused in turn, or that changes what is right already, mends nothing. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.shuffle.rdma.memryShare 7",
        "spark.shuffle.rdma.memryShare 0.4\nspark.shuffle.rdma.memoryShare 0.3",
        "spark.shuffle.rdma.allowPlaintex true"
      })
  void noLineForAMisspeltKeyDoesHarm(String text) throws Exception {
    Finding finding = only(new SettingsCheck(settings(text + "\n")));
    assertThat(finding.said()).contains("did you mean");
    assertThat(finding.lines()).isEmpty();
  }

  /** Spark takes the same words, and ends an application with others. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.authenticate.enableSaslEncryption",
        "spark.ssl.rpc.enabled",
        "spark.shuffle.useOldFetchProtocol",
        "spark.memory.offHeap.enabled",
        "spark.shuffle.service.enabled",
        "spark.shuffle.push.enabled",
        "spark.comet.enabled",
        "spark.comet.exec.shuffle.enabled",
        "spark.comet.shuffle.enabled",
        "spark.gluten.enabled"
      })
  void aSwitchIsTrueOrFalse(String key) throws Exception {
    for (String word : List.of("True", "FALSE", " false ")) {
      SparkSettings right =
          SparkSettings.read(
              Optional.empty(), Map.of(key, word, "spark.memory.offHeap.size", "1g"));
      assertThat(right.refusals()).as(word).isEmpty();
    }
    for (String word : List.of("yes", "1", "")) {
      SparkSettings wrong = SparkSettings.read(Optional.empty(), Map.of(key, word));
      assertThat(wrong.refusals()).containsOnlyKeys(key);
      assertThat(only(new SettingsCheck(wrong)).said())
          .contains(key + " is \"" + word + "\", but must be true or false");
      assertThat(wrong.accepted().values()).isEmpty();
    }
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
            finding -> assertThat(finding.said()).contains(key, "Spark encrypts its network"),
            finding -> assertThat(finding.set()).contains("docs/security.md"),
            finding -> assertThat(finding.lines()).isEmpty());
  }

  /** The operator may have turned READs off because of the encryption. */
  @Test
  void noLineTurnsReadsOnWhereSparkEncrypts() throws Exception {
    String encrypted =
        """
        spark.network.crypto.enabled TRUE
        spark.shuffle.rdma.allowPlaintext true
        spark.shuffle.rdma.provider off
        spark.shuffle.useOldFetchProtocol true
        """;
    assertThat(reads(settings(encrypted)))
        .hasSize(2)
        .allSatisfy(finding -> assertThat(finding.lines()).isEmpty());
    assertThat(node(encrypted + "spark.shuffle.rdma.node on\n"))
        .isNotEmpty()
        .allSatisfy(finding -> assertThat(finding.lines()).isEmpty());
  }

  private List<Finding> node(String text) throws IOException {
    SparkSettings settings = settings(text);
    return new NodeConflictCheck(settings, Contexts.conf(directory, settings)).findings();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.shuffle.service.enabled, true, false",
    "spark.shuffle.rdma.provider, off, auto",
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

  @ParameterizedTest
  @CsvSource({
    "spark.ssl.rpc.enabled, true",
    "spark.network.crypto.authEngineVersion, 2",
    "spark.network.crypto.cipher, AES/GCM/NoPadding"
  })
  void noLineGivesUpEncryptionForNodeDaemons(String key, String value) throws Exception {
    assertThat(
            node(
                """
                spark.shuffle.rdma.node on
                spark.network.crypto.enabled true
                spark.shuffle.rdma.allowPlaintext true
                %s %s
                """
                    .formatted(key, value)))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.level()).isEqualTo(Level.FAIL),
            finding -> assertThat(finding.said()).contains(key, value),
            finding ->
                assertThat(finding.set())
                    .contains("docs/security.md", "spark.shuffle.rdma.node=off", key),
            finding -> assertThat(finding.lines()).isEmpty());
  }

  /** A file with two conflicts is mended in one go. */
  @Test
  void allConflictsAreNamed() throws Exception {
    assertThat(
            node(
                """
                spark.shuffle.rdma.node on
                spark.shuffle.rdma.provider off
                spark.shuffle.service.enabled True
                """))
        .hasSize(2);
  }

  private Finding ports(String text) throws Exception {
    SparkSettings settings = settings(text);
    return only(new PortsCheck(settings, Contexts.conf(directory, settings)));
  }

  @Test
  void portsForAFirewallAreNamed() throws Exception {
    assertThat(ports("").said())
        .contains("any free TCP port (spark.shuffle.rdma.port)", "UDP port 4791");
    Finding set =
        ports(
            """
            spark.shuffle.rdma.port 7400
            spark.shuffle.rdma.dataPort 7420
            """);
    assertThat(set.level()).isEqualTo(Level.OK);
    assertThat(set.said()).contains("TCP ports 7400 to 7416", "TCP ports 7420 to 7436");
  }

  @Test
  void portsThatMeetAreAWarning() throws Exception {
    Finding meets =
        ports(
            """
            spark.shuffle.rdma.port 7400
            spark.shuffle.rdma.dataPort 7410
            """);
    assertThat(meets.level()).isEqualTo(Level.WARN);
    assertThat(meets.lines())
        .containsExactly(FixLine.setting("spark.shuffle.rdma.dataPort", "7417"));
    assertThat(ports("spark.shuffle.rdma.port 7330\n").level()).isEqualTo(Level.WARN);
    assertThat(ports("spark.shuffle.rdma.port 7330\nspark.port.maxRetries 7\n").level())
        .isEqualTo(Level.OK);
    assertThat(only(new SettingsCheck(settings("spark.port.maxRetries many\n"))).said())
        .contains("spark.port.maxRetries is \"many\"");
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
    assertThat(new JavaOptionsCheck("4.0.4", 21, settings).findings())
        .flatExtracting(Finding::lines)
        .containsExactly(
            FixLine.setting("spark.driver.extraJavaOptions", "--enable-native-access=ALL-UNNAMED"),
            FixLine.setting(
                "spark.executor.extraJavaOptions",
                "-XX:+UseParallelGC --enable-native-access=ALL-UNNAMED"));
    assertThat(new JavaOptionsCheck("4.1.0", 21, settings).findings()).isEmpty();
    SparkSettings ofAll =
        settings(
            """
            spark.driver.defaultJavaOptions --enable-native-access=ALL-UNNAMED
            spark.executor.defaultJavaOptions --enable-native-access=ALL-UNNAMED
            """);
    assertThat(new JavaOptionsCheck("4.0.4", 21, ofAll).findings()).isEmpty();
    assertThat(new JavaOptionsCheck("4.0.4", 21, SparkSettings.NONE).findings()).isEmpty();
  }

  @Test
  void accessToMemoryIsAddedToTheOptionsOfSpark41OnANewJvm() throws Exception {
    SparkSettings settings = settings("spark.driver.extraJavaOptions -Xss1m\n");
    assertThat(new JavaOptionsCheck("4.1.3", 25, settings).findings())
        .allSatisfy(finding -> assertThat(finding.said()).contains("Arrow fails"))
        .flatExtracting(Finding::lines)
        .containsExactly(
            FixLine.setting(
                "spark.driver.extraJavaOptions", "-Xss1m --sun-misc-unsafe-memory-access=allow"),
            FixLine.setting(
                "spark.executor.extraJavaOptions", "--sun-misc-unsafe-memory-access=allow"));
    assertThat(new JavaOptionsCheck("4.1.3", 21, settings).findings()).isEmpty();
    assertThat(new JavaOptionsCheck("4.2.0", 25, settings).findings()).isEmpty();
  }
}
