package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.spark.other.Java17;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor from the drop-in jar alone: no Spark, no checkout, nothing on the class path. */
final class DoctorJarIT {
  @TempDir private Path directory;

  private Result run(String... options) throws Exception {
    return run(DoctorProcess.command(DropInJar.path(), options));
  }

  private Result run(List<String> command) throws Exception {
    return DoctorProcess.run(directory, Map.of("SPARK_LOCAL_IP", "127.0.0.1"), command);
  }

  @Test
  void everythingIsLookedAt() throws Exception {
    Result result = run("--local-dirs", directory.toString(), "--json");
    for (String name :
        List.of("java", "spark", "rdma-core", "memlock", "mappings", "cgroup", "budget")) {
      assertThat(result.output()).contains("\"name\": \"" + name + "\"");
    }
    assertThat(result.output())
        .startsWith("[")
        .contains("\"name\": \"provider\"", "Map outputs in " + directory)
        .doesNotContain("Exception", "NoClassDefFound", "WARNING");
    assertThat(result.exitCode()).as(result.output()).isBetween(0, 2);
  }

  @Test
  void bySoftwareEverythingIsFine() throws Exception {
    Result result = run("--provider", "soft", "--local-dirs", directory.toString());
    assertThat(result.findings("fail", ".*")).as(result.output()).isEmpty();
    assertThat(result.findings("ok", "registration")).hasSize(1);
    assertThat(result.exitCode()).isLessThan(2);
  }

  @Test
  void oneReadsFromAnother() throws Exception {
    try (DoctorProcess server =
        DoctorProcess.start(
            directory,
            Map.of("SPARK_LOCAL_IP", "127.0.0.1"),
            DoctorProcess.command(
                DropInJar.path(), "--provider", "soft", "--serve", "--port", "0"))) {
      Result result = run("--provider", "soft", "--peer", "localhost:" + server.port());
      assertThat(result.findings("ok", "peer"))
          .as(result.output())
          .singleElement()
          .asString()
          .contains("READ from localhost", "MB/s", "us");
    }
  }

  @Test
  void anOlderJvmIsToldOfTheOneThatItTakes() throws Exception {
    Result result = run(DoctorProcess.command(Java17.home(), DropInJar.path()));
    assertThat(result.findings("fail", "java"))
        .as(result.output())
        .singleElement()
        .asString()
        .contains("needs Java 25, this JVM is Java 17", "JAVA_HOME");
    assertThat(result.exitCode()).isEqualTo(2);
  }

  @Test
  void wrongOptionsAreAnsweredWithTheRightOnes() throws Exception {
    Result result = run("--pear", "host");
    assertThat(result.output()).contains("there is no option --pear", "--peer HOST");
    assertThat(result.exitCode()).isEqualTo(2);
  }
}
