// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Parts of the Dockerfiles that can be checked without building an image: sources, packages, users
 * and versions.
 */
final class ImagesTest {
  private static final Path POM = Path.of("../pom.xml");
  private static final Pattern INSTALLED =
      Pattern.compile("apt-get install(( -\\S+)*)((?: [a-z0-9.-]+)+)");

  static List<Path> images() throws IOException {
    return Images.all();
  }

  /** Images for Spark. */
  static List<Path> ofSpark() throws IOException {
    return Images.all().stream()
        .filter(file -> file.getFileName().toString().startsWith("spark-"))
        .toList();
  }

  @Test
  void thereIsOneForTheDaemonAndOneForEachDistribution() throws IOException {
    assertThat(images())
        .extracting(file -> file.getFileName().toString())
        .containsExactly("node.Dockerfile", "spark-debian.Dockerfile", "spark-ubi.Dockerfile");
  }

  /** The head of bin/release lists the files of a release. */
  @ParameterizedTest
  @MethodSource("images")
  void filesComeFromTheRelease(Path image) throws IOException {
    String version = Images.version("sluice", POM);
    List<String> release =
        Files.readString(Path.of("../bin/release"))
            .lines()
            .filter(line -> line.startsWith("#   "))
            .map(line -> line.split("\\s+")[1].replace("VERSION", version))
            .toList();
    List<String> sources = new ArrayList<>();
    for (String instruction : List.of("COPY", "ADD")) {
      for (List<String> arguments : Images.instructions(image, instruction)) {
        if (!arguments.getFirst().startsWith("--")) {
          sources.addAll(arguments.subList(0, arguments.size() - 1));
        }
      }
    }
    assertThat(sources).isNotEmpty().isSubsetOf(release);
  }

  @ParameterizedTest
  @MethodSource("images")
  void javaIsThatOfTheTests(Path image) throws IOException {
    assertThat(image)
        .content()
        .containsPattern("(FROM |COPY --from=)eclipse-temurin:25-j(dk|re)\\b");
    assertThat(Path.of("../bin/lib.sh")).content().contains("\njava_release=25 ");
  }

  @ParameterizedTest
  @MethodSource("images")
  void theUserIsThatOfTheManifests(Path image) throws IOException {
    long user = Chart.render().pod().getSpec().getSecurityContext().getRunAsUser();
    assertThat(Images.instructions(image, "USER").getLast()).containsExactly(user + ":" + user);
  }

  @ParameterizedTest
  @MethodSource("images")
  void debianHasThePackages(Path image) throws Exception {
    assumeTrue(knows("libc6"), "apt has no lists of packages");
    Matcher install = INSTALLED.matcher(Files.readString(image));
    while (install.find()) {
      for (String name : install.group(3).strip().split(" ")) {
        assertThat(knows(name)).as(name).isTrue();
      }
    }
  }

  private static boolean knows(String name) throws Exception {
    try {
      Process process =
          new ProcessBuilder("apt-cache", "show", name)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @MethodSource("ofSpark")
  void versionsOfSparkAndHadoopAreThoseOfTheTests(Path image) throws Exception {
    assertThat(Images.instructions(image, "ARG"))
        .containsExactly(List.of("SPARK_VERSION=" + Images.version("spark.version", POM)));
    String hadoop = Images.version("hadoop.3.4.version", POM);
    List<List<String>> jars =
        Images.instructions(image, "ADD").stream().filter(add -> add.size() == 3).toList();
    assertThat(jars).hasSize(2);
    for (List<String> jar : jars) {
      String name = jar.get(1).substring(jar.get(1).lastIndexOf('/') + 1);
      assertThat(name).matches("hadoop-client-(api|runtime)-" + Pattern.quote(hadoop) + "\\.jar");
    }
  }

  @Test
  void theDistributionsDifferInTheirOwnStageAlone() throws IOException {
    assertThat(ofSpark())
        .hasSize(2)
        .extracting(ImagesTest::stageOfSpark)
        .containsOnly(stageOfSpark(ofSpark().getFirst()));
  }

  /** Stage with the jars, which both distributions copy. */
  private static String stageOfSpark(Path image) throws IOException {
    String text = Files.readString(image);
    return text.substring(text.indexOf("\nARG "), text.lastIndexOf("\nFROM "));
  }
}
