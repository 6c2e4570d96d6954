// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import dev.sluice.doctor.FixLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks of the shuffle manager and its jar, and of engines that have a shuffle of their own. */
class ManagerChecksTest {
  private static final String OURS = "dev.sluice.spark.RdmaShuffleManager";
  private static final Path OWN = Path.of("/opt/sluice/sluice-spark-4-0.1.0.jar");
  private static final Path INSTALLED = Path.of("/opt/spark/jars/sluice-spark-4-0.1.0.jar");
  private static final FixLine MANAGER_LINE = FixLine.setting("spark.shuffle.manager", OURS);
  private static final FixLine JAR_LINE = FixLine.setting("spark.jars", OWN.toString());

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

  private static Installation installation(SparkSettings settings, Path... jars) {
    return new Installation(List.of(jars), settings, Optional.of(OWN));
  }

  private Finding manager(String manager) throws Exception {
    return only(
        new ManagerCheck(
            installation(
                settings(manager.isEmpty() ? "" : "spark.shuffle.manager " + manager + "\n"))));
  }

  @Test
  void oursIsTheRightManager() throws Exception {
    assertThat(manager(OURS).level()).isEqualTo(Level.OK);
    assertThat(only(new ManagerCheck(installation(SparkSettings.NONE))).level())
        .isEqualTo(Level.OK);
  }

  @ParameterizedTest
  @CsvSource({
    "sort, Spark's own",
    "org.apache.spark.shuffle.sort.SortShuffleManager, Spark's own",
    "org.apache.spark.shuffle.celeborn.SparkShuffleManager, Apache Celeborn",
    "org.apache.spark.shuffle.RssShuffleManager, Apache Uniffle",
    "com.nvidia.spark.rapids.spark400.RapidsShuffleManager, RAPIDS",
    "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager, DataFusion Comet",
    "org.apache.spark.shuffle.sort.ColumnarShuffleManager, Gluten",
    "org.apache.spark.shuffle.GlutenShuffleManager, Gluten",
    "SORT, Spark's own"
  })
  void anotherManagerIsNamedWithItsProject(String manager, String project) throws Exception {
    Finding finding = manager(manager);
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.said()).contains(manager, project);
    assertThat(finding.lines()).containsExactly(MANAGER_LINE, JAR_LINE);
  }

  /** The manager's line alone ends in ClassNotFoundException. */
  @Test
  void theJarStandsBesideTheManager() throws Exception {
    SparkSettings sort = settings("spark.shuffle.manager sort\n");
    assertThat(only(new ManagerCheck(installation(sort, INSTALLED))).lines())
        .as("among Spark's jars")
        .containsExactly(MANAGER_LINE);
    SparkSettings named = settings("spark.jars /opt/a.jar," + OWN + "\n");
    assertThat(only(new ManagerCheck(installation(named))).lines()).containsExactly(MANAGER_LINE);
    SparkSettings image = settings("spark.kubernetes.container.image apache/spark:4.1.1\n");
    assertThat(only(new ManagerCheck(installation(image))).lines())
        .as("nobody knows what is in the image")
        .containsExactly(MANAGER_LINE, JAR_LINE);
    SparkSettings others = settings("spark.jars /opt/a.jar, /opt/b.jar\n");
    assertThat(only(new ManagerCheck(installation(others))).lines())
        .containsExactly(
            MANAGER_LINE, FixLine.setting("spark.jars", "/opt/a.jar,/opt/b.jar," + OWN));
  }

  /** The doctor's job has its own jar, and other applications have not. */
  @Test
  void aJobsJarIsAPlaceholder() throws Exception {
    SparkSettings job = settings("spark.jars spark://driver:4040/jars/sluice-spark-4-0.1.0.jar\n");
    Installation installation = new Installation(List.of(), job, Optional.empty());
    assertThat(only(new ManagerCheck(installation)).lines())
        .containsExactly(
            MANAGER_LINE, FixLine.setting("spark.jars", "/PATH/TO/sluice-spark-4-VERSION.jar"));
  }

  /** It may be built on RdmaShuffle, so no line replaces it. */
  @Test
  void aManagerThatIsNotKnownIsAQuestion() throws Exception {
    Finding finding = manager("com.example.Own");
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.set()).contains("dev.sluice.spark.RdmaShuffle");
    assertThat(finding.lines()).isEmpty();
  }

  @Test
  void aMissingManagerIsSparksOwn() throws Exception {
    Finding finding = manager("");
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.said()).contains("does not set spark.shuffle.manager");
    assertThat(finding.lines()).containsExactly(MANAGER_LINE, JAR_LINE);
  }

  private List<Finding> engines(String text) throws IOException {
    return new EnginesCheck(settings(text)).findings();
  }

  /** Its switch is needed together with Sluice's manager, so that one paste is enough. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.plugins org.apache.spark.CometPlugin",
        "spark.sql.extensions org.apache.comet.CometSparkSessionExtensions",
        "spark.shuffle.manager org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
      })
  void cometKeepsItsOperatorsWithoutItsShuffle(String text) throws Exception {
    assertThat(engines(text + "\n"))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.name()).isEqualTo("comet"),
            finding -> assertThat(finding.level()).isEqualTo(Level.WARN),
            finding ->
                assertThat(finding.lines())
                    .containsExactly(FixLine.setting("spark.comet.exec.shuffle.enabled", "false")));
    assertThat(engines(text + "\nspark.comet.exec.shuffle.enabled FALSE\n")).isEmpty();
    assertThat(engines(text + "\nspark.comet.shuffle.enabled false\n")).isEmpty();
    assertThat(engines(text + "\nspark.comet.enabled false\n")).isEmpty();
  }

  /** It extends Comet's, and needs the same jar as ours. */
  @Test
  void theManagerForCometIsRight() throws Exception {
    String manager = "dev.sluice.spark.comet.CometRdmaShuffleManager";
    assertThat(manager(manager).level()).isEqualTo(Level.OK);
    String text = "spark.shuffle.manager " + manager + "\n";
    assertThat(only(new JarCheck(installation(settings(text)))).lines()).containsExactly(JAR_LINE);
    assertThat(engines(text))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.level()).isEqualTo(Level.OK),
            finding -> assertThat(finding.said()).contains(manager));
    assertThat(engines("spark.plugins org.apache.spark.CometPlugin\n"))
        .singleElement()
        .satisfies(finding -> assertThat(finding.set()).contains(manager));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.plugins org.apache.gluten.GlutenPlugin",
        "spark.plugins io.glutenproject.GlutenPlugin",
        "spark.shuffle.manager org.apache.spark.shuffle.gluten.celeborn.CelebornShuffleManager"
      })
  void glutenIsAChoice(String text) throws Exception {
    assertThat(engines(text + "\n"))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.name()).isEqualTo("gluten"),
            finding -> assertThat(finding.set()).contains("spark.gluten.enabled=false"),
            finding -> assertThat(finding.lines()).isEmpty());
    assertThat(engines(text + "\nspark.gluten.enabled false\n")).isEmpty();
  }

  @Test
  void otherEnginesAndModesAreNamed() throws Exception {
    assertThat(engines("spark.executor.cores 8\n")).isEmpty();
    assertThat(engines("spark.plugins com.nvidia.spark.SQLPlugin\n"))
        .extracting(Finding::name, Finding::level)
        .containsExactly(tuple("rapids", Level.OK));
    assertThat(engines("spark.shuffle.push.enabled True\n"))
        .extracting(Finding::name, Finding::level)
        .containsExactly(tuple("push", Level.WARN));
  }

  private Finding jar(String text, Path... jars) throws Exception {
    return only(
        new JarCheck(installation(settings("spark.shuffle.manager " + OURS + "\n" + text), jars)));
  }

  @Test
  void theJarIsFoundWhereAnApplicationFindsIt() throws Exception {
    assertThat(jar("", INSTALLED).said())
        .isEqualTo("Sluice's jar comes from sluice-spark-4-0.1.0.jar");
    assertThat(jar("spark.jars /x.jar," + OWN + "\n").level()).isEqualTo(Level.OK);
    Finding image = jar("spark.kubernetes.container.image registry/spark-sluice:4.1.3\n");
    assertThat(image.level()).isEqualTo(Level.OK);
    assertThat(image.said()).contains("has to be in spark.kubernetes.container.image");
    assertThat(new JarCheck(installation(SparkSettings.NONE)).findings()).isEmpty();
  }

  @Test
  void driverAndExecutorsNeedTheJar() throws Exception {
    String executors = "spark.executor.extraClassPath " + OWN + "\n";
    assertThat(jar(executors).level()).isEqualTo(Level.WARN);
    assertThat(jar(executors + "spark.driver.extraClassPath /opt/sluice/*\n").level())
        .isEqualTo(Level.OK);
  }

  @Test
  void aMissingJarIsNamedWithOthers() throws Exception {
    Finding finding = jar("spark.jars /opt/other.jar\n");
    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.lines())
        .containsExactly(FixLine.setting("spark.jars", "/opt/other.jar," + OWN));
  }

  @Test
  void twoVersionsOfTheJarAreAFailure() throws Exception {
    Path newer = Path.of("/jars/sluice-spark-4-0.2.0.jar");
    Finding finding = only(new JarCheck(installation(SparkSettings.NONE, newer, INSTALLED)));
    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.said()).endsWith("sluice-spark-4-0.1.0.jar, sluice-spark-4-0.2.0.jar");
  }
}
