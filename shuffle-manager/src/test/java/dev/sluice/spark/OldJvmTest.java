package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.sluice.spark.version.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the manager is on a JVM that is too old for the rest of the jar. */
class OldJvmTest {
  private static final String OLD = Platform.lack(21, "4.2.0");
  private static final String OLDER = Platform.lack(17, "4.2.0");
  private static final Path JVMS = Path.of("/usr/lib/jvm");
  private static final String PROGRAM =
      """
      import org.apache.spark.SparkConf;
      import dev.sluice.spark.RdmaShuffleManager;
      public class Program {
        public static void main(String[] args) {
          SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.provider", args[0]);
          RdmaShuffleManager manager = new RdmaShuffleManager(conf, true);
          System.out.println("resolver " + manager.shuffleBlockResolver().getClass().getName());
          System.out.println("totals " + manager.totals());
        }
      }
      """;

  @TempDir private Path dir;

  @Test
  void autoIsTheStockShuffleOnAnOldJvm() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("auto"), true, OLD);
    assertThat(manager.shuffleBlockResolver()).isExactlyInstanceOf(IndexShuffleBlockResolver.class);
    assertThat(manager.totals()).isEmpty();
  }

  @Test
  void whatWasAskedForByNameFailsOnAnOldJvm() {
    for (String provider : List.of("soft", "verbs")) {
      assertThatThrownBy(() -> new RdmaShuffleManager(conf(provider), true, OLD))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("\"" + provider + "\"", "Java 25", "Java 21");
    }
  }

  @Test
  void anExecutorOnAnOldJvmFailsItsTasksAndNotItsStart() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("soft"), false, OLDER);
    assertThatThrownBy(() -> manager.getWriter(null, 0, null, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this JVM is Java 17");
    assertThatThrownBy(() -> manager.getReader(null, 0, 1, 0, 1, null, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this JVM is Java 17");
  }

  @Test
  void offIsTheStockShuffleOnAnyJvm() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("off"), true, OLD);
    assertThat(manager.shuffleBlockResolver()).isExactlyInstanceOf(IndexShuffleBlockResolver.class);
  }

  @Test
  void theClassLoadsOnARealJava17() throws IOException, InterruptedException {
    Path java = java17();
    assertThat(run(java, "auto"))
        .contains("RDMA shuffle needs Java 25, this JVM is Java 17")
        .contains("resolver org.apache.spark.shuffle.IndexShuffleBlockResolver")
        .contains("totals {}");
    assertThat(run(java, "soft"))
        .contains("IllegalStateException")
        .contains("spark.shuffle.rdma.provider is \"soft\"");
  }

  private static SparkConf conf(String provider) {
    return new SparkConf(false).set("spark.shuffle.rdma.provider", provider);
  }

  private static Path java17() throws IOException {
    if (Files.isDirectory(JVMS)) {
      try (Stream<Path> jvms = Files.list(JVMS)) {
        var found =
            jvms.filter(jvm -> jvm.getFileName().toString().matches("(java|jdk|temurin)-17.*"))
                .map(jvm -> jvm.resolve("bin/java"))
                .filter(Files::isExecutable)
                .findFirst();
        if (found.isPresent()) {
          return found.get();
        }
      }
    }
    String reason = "No Java 17 below " + JVMS + ": not tried on a real one";
    System.out.println(reason);
    return abort(reason);
  }

  /** The program is compiled by the JVM that runs it. */
  private String run(Path java, String provider) throws IOException, InterruptedException {
    Path program = Files.writeString(dir.resolve("Program.java"), PROGRAM);
    Path output = dir.resolve("output");
    Process process =
        new ProcessBuilder(
                java.toString(),
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                program.toString(),
                provider)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
      return Files.readString(output);
    } finally {
      process.destroyForcibly();
    }
  }
}
