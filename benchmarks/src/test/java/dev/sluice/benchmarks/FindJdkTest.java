// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code find_jdk} of {@code bin/lib.sh}: the JDK that the commands in {@code bin} use. */
class FindJdkTest {
  private static final Path LIBRARY = Path.of("..", "bin", "lib.sh").toAbsolutePath().normalize();
  private static final long TIMEOUT_MS = 60_000;

  @TempDir private Path folder;

  /** Output of {@code find_jdk} in a shell of its own. */
  private record Outcome(int status, String output) {}

  @BeforeEach
  void onThePathIsAnOldOne() throws IOException {
    jdk("path", "17.0.15");
  }

  private Path jdk(String name, String version) throws IOException {
    return jdk(folder.resolve(name), version, "javac");
  }

  /** Makes a folder with programs that answer like those of a JDK. */
  private static Path jdk(Path home, String version, String compiler) throws IOException {
    Path bin = Files.createDirectories(home.resolve("bin"));
    script(
        bin.resolve("java"),
        "cat >&2 <<END\nProperty settings:\n    java.specification.version = %s\n    java.version = %s\nEND\n"
            .formatted(version.split("[.-]")[0], version));
    script(bin.resolve(compiler), "");
    return home;
  }

  private static void script(Path file, String body) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + body);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private Outcome find(String javaHome) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    ProcessBuilder shell =
        new ProcessBuilder(
            "bash",
            "-c",
            "source \"$0\"; jvm_folder=$1; find_jdk; printf %s \"$(env | sed -n s/^JAVA_HOME=//p)\"",
            LIBRARY.toString(),
            folder.resolve("jvm").toString());
    shell.environment().put("HOME", folder.resolve("home").toString());
    shell.environment().put("JAVA_HOME", javaHome);
    shell
        .environment()
        .merge("PATH", folder.resolve("path/bin").toString(), (path, first) -> first + ":" + path);
    Process process = shell.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Outcome(
        process.exitValue(), Files.readString(output, StandardCharsets.UTF_8).strip());
  }

  private void assertFound(String javaHome, Path expected) throws Exception {
    assertThat(find(javaHome)).isEqualTo(new Outcome(0, expected.toString()));
  }

  @Test
  void theNewestUpdateIsTaken() throws Exception {
    jdk("jvm/a", "25.0.1");
    Path newest = jdk("home/.sdkman/candidates/java/b", "25.0.10");
    jdk("jvm/c", "25.0.9");
    jdk("jvm/d", "25");
    jdk("jvm/e", "21.0.11");
    assertFound("", newest);
  }

  @Test
  void javaHomeComesFirst() throws Exception {
    jdk("jvm/a", "25.0.3");
    Path own = jdk("own", "25.0.1");
    assertFound(own.toString(), own);
  }

  @Test
  void aJavaHomeThatIsTooOldIsPassedOver() throws Exception {
    Path suitable = jdk("jvm/a", "25.0.3");
    assertFound(jdk("own", "21.0.11").toString(), suitable);
  }

  @Test
  void theJdkOnThePathCounts() throws Exception {
    jdk("jvm/a", "25.0.1");
    assertFound("", jdk("path", "25.0.3"));
  }

  @Test
  void aRuntimeWithoutACompilerIsNoJdk() throws Exception {
    Path suitable = jdk("jvm/a", "25.0.1");
    jdk(folder.resolve("jvm/b"), "25.0.3", "no-compiler");
    assertFound("", suitable);
  }

  @Test
  void aBrokenJdkIsPassedOver() throws Exception {
    Path suitable = jdk("jvm/b", "25.0.1");
    script(jdk("jvm/a", "25.0.3").resolve("bin/java"), "exit 1\n");
    assertFound(folder.resolve("jvm/a").toString(), suitable);
  }

  @Test
  void anEarlyAccessBuildIsOlderThanTheReleaseOfItsVersion() throws Exception {
    Path release = jdk("jvm/a", "26");
    jdk("jvm/b", "26-ea");
    assertFound("", release);
  }

  @Test
  void missingJdkIsReportedWithThePackageToInstall() throws Exception {
    Outcome outcome = find("/nowhere");
    assertThat(outcome.status()).isEqualTo(1);
    assertThat(outcome.output()).contains("JAVA_HOME (/nowhere)", "temurin-25-jdk");
  }
}
