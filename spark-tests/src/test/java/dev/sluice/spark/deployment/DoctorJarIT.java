// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.spark.other.OtherJava;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The doctor from the drop-in jar alone: no Spark, no checkout, nothing on the class path. */
final class DoctorJarIT {
  private static final List<String> NAMESPACES = List.of("unshare", "-rm");

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private Result run(String... options) throws Exception {
    return run(DoctorProcess.command(DropInJar.path(), options));
  }

  private Result run(List<String> command) throws Exception {
    return run("127.0.0.1", command);
  }

  private Result run(String ownAddress, List<String> command) throws Exception {
    return DoctorProcess.run(directory, Map.of("SPARK_LOCAL_IP", ownAddress), command);
  }

  /** Asserts a failure that is one line and names the setting. */
  private static void assertFails(Result result, String name, String... words) {
    assertThat(result.findings("fail", name))
        .as(result.output())
        .anySatisfy(found -> assertThat(found).contains(words).contains("fix:"));
    assertNoTrace(result);
  }

  private static void assertNoTrace(Result result) {
    assertThat(result.output()).doesNotContain("Exception in thread", "\tat ", " null");
    assertThat(result.exitCode()).as(result.output()).isEqualTo(2);
  }

  @Test
  void everythingIsLookedAt() throws Exception {
    Result result = run("--local-dirs", directory.toString(), "--json");
    JsonNode json = JSON.readTree(result.output());
    assertThat(json.get("findings").findValuesAsText("name"))
        .contains("java", "spark", "devices", "memlock", "cgroup", "budget", "registration");
    assertThat(json.get("sluice").asText()).matches("\\d+\\.\\d+.*");
    assertThat(json.get("host").asText()).isNotEmpty();
    assertThat(Instant.parse(json.get("time").asText())).isBefore(Instant.now());
    assertThat(json.get("exit_status").asInt()).isEqualTo(result.exitCode());
    JsonNode memlock = json.get("findings").findValues("needed_bytes").getFirst();
    assertThat(memlock.isNumber()).isTrue();
    assertThat(result.output())
        .contains("Map outputs in " + directory)
        .doesNotContain("Exception", "NoClassDefFound", "WARNING");
    assertThat(result.exitCode()).as(result.output()).isBetween(0, 2);
  }

  /** There is one warning, not one line each for the provider, locked memory and device files. */
  @Test
  @DisabledIf(value = "hasDevices", disabledReason = "this machine has RDMA devices")
  void aNodeWithoutADeviceHasOneWarning() throws Exception {
    Result result = run("--local-dirs", directory.toString());
    String ofVerbs = "(?:devices|rdma-core|device files|port|memlock|mappings|provider)";
    assertThat(result.findings("warn|fail", ofVerbs))
        .as(result.output())
        .singleElement()
        .asString()
        .contains("devices", "effect: provider is soft", "fix:");
    assertThat(result.exitCode()).isEqualTo(1);
  }

  /** The JDK or the container of this machine may give a reason for a warning. */
  @Test
  void whatIsRightNeedsNoFix() throws Exception {
    String local = directory.toString();
    Result table = run("--provider", "soft", "--local-dirs", local);
    Result fix = run("--provider", "soft", "--local-dirs", local, "--fix");
    assertThat(fix.exitCode()).isEqualTo(table.exitCode());
    assertThat(fix.output().equals("nothing to fix\n"))
        .as(fix.output())
        .isEqualTo(table.exitCode() == 0);
  }

  /** Reads the settings that spark-submit would read, and prints lines to paste into them. */
  @Test
  void aNodesSettingsAreChecked() throws Exception {
    Path file = directory.resolve("spark-defaults.conf");
    Files.writeString(
        file,
        """
        spark.shuffle.manager org.apache.spark.shuffle.celeborn.SparkShuffleManager
        spark.shuffle.rdma.memryShare 0.4
        spark.executor.memory 8g
        """);
    List<String> options =
        List.of("--provider", "soft", "--local-dirs", directory.toString(), "--conf");
    Map<String, String> environment =
        Map.of("SPARK_LOCAL_IP", "127.0.0.1", "SPARK_CONF_DIR", directory.toString());
    List<String> table = new ArrayList<>(options);
    table.add("spark.shuffle.rdma.node=on");
    Result result = runWith(environment, table);
    assertThat(result.findings("warn", "manager")).singleElement().asString().contains("Celeborn");
    assertThat(result.findings("fail", "settings"))
        .singleElement()
        .asString()
        .contains(file.toString(), "did you mean spark.shuffle.rdma.memoryShare?");
    assertThat(result.findings("fail", "daemon"))
        .singleElement()
        .asString()
        .contains("/run/sluice/node.sock");
    assertThat(result.findings("ok", "budget"))
        .as("a tenth of the heap")
        .singleElement()
        .asString()
        .contains("the overhead is 819 MiB");
    assertThat(result.exitCode()).isEqualTo(2);

    List<String> fix = new ArrayList<>(options);
    fix.addAll(List.of("spark.shuffle.rdma.node=off", "--fix"));
    Result lines = runWith(environment, fix);
    assertThat(lines.output().lines())
        .filteredOn(line -> !line.startsWith("#"))
        .containsExactly(
            "spark.jars                                 " + DropInJar.path(),
            "spark.shuffle.manager                      dev.sluice.spark.RdmaShuffleManager",
            "spark.shuffle.rdma.memoryShare             0.4");
    assertThat(lines.output()).contains("# remove spark.shuffle.rdma.memryShare, and add:");
    assertThat(Files.readString(file)).as("no file is changed").contains("memryShare");
    assertThat(lines.exitCode()).isEqualTo(2);
  }

  private Result runWith(Map<String, String> environment, List<String> options) throws Exception {
    return DoctorProcess.run(
        directory,
        environment,
        DoctorProcess.command(DropInJar.path(), options.toArray(new String[0])));
  }

  @Test
  void settingsThatCannotBeReadAreNamed() throws Exception {
    String none = directory.resolve("none.conf").toString();
    assertFails(run("--properties-file", none), "settings", none, "--properties-file");
  }

  @Test
  void aShuffleIsSized() throws Exception {
    Result result =
        run(
            "size",
            "--executor-memory",
            "32g",
            "--cores",
            "8",
            "--shuffle",
            "10t",
            "--executors",
            "800",
            "--link",
            "100");
    assertThat(result.output())
        .contains(
            "registration  1.0 GiB",
            "spark.jars                                 " + DropInJar.path(),
            "spark.executor.memoryOverhead              3276m");
    assertThat(result.exitCode()).isZero();
    Result wrong = run("size", "--shuffle", "10x");
    assertThat(wrong.output()).startsWith("--shuffle is 10x, not a size");
    assertNoTrace(wrong);
    Result old = run(DoctorProcess.command(OtherJava.home(17), DropInJar.path(), "size", "--help"));
    assertThat(old.findings("fail", "java")).hasSize(1);
  }

  @Test
  void theSoftwareProviderHasNoFailures() throws Exception {
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
    Result result = run(DoctorProcess.command(OtherJava.home(17), DropInJar.path()));
    assertThat(result.findings("fail", "java"))
        .as(result.output())
        .singleElement()
        .asString()
        .contains("needs Java 21, this JVM is Java 17", "JAVA_HOME");
    assertThat(result.exitCode()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 21})
  void theVersionIsPrinted(int java) throws Exception {
    Result version =
        run(DoctorProcess.command(OtherJava.home(java), DropInJar.path(), "--version"));
    assertThat(version.output())
        .startsWith("sluice %s, Java %d".formatted(DropInJar.version(), java));
    assertThat(version.exitCode()).isZero();
  }

  @Test
  void anOlderJvmAnswersProgramsInJsonAndHelps() throws Exception {
    Result json = run(DoctorProcess.command(OtherJava.home(17), DropInJar.path(), "--json"));
    JsonNode finding = JSON.readTree(json.output()).get("findings").get(0);
    assertThat(finding.get("name").asText()).isEqualTo("java");
    assertThat(finding.get("level").asText()).isEqualTo("fail");
    assertThat(finding.get("values").get("version").asText()).startsWith("17");
    assertThat(json.exitCode()).isEqualTo(2);

    Result help = run(DoctorProcess.command(OtherJava.home(17), DropInJar.path(), "--help"));
    assertThat(help.output()).contains("--peer HOST", "--serve", "--json");
    assertThat(help.exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "--serve --peer host, --peer cannot be combined with --serve",
    "--port 80, --port needs --serve",
    "--pear host, there is no option --pear",
    "--peer host:x, --peer's port is x",
    "--peer host:65536, --peer's port is 65536",
    "--serve --port 65536, --port is 65536"
  })
  void wrongOptionsAreAnsweredWithTheRightOnes(String options, String words) throws Exception {
    Result result = run(options.split(" "));
    assertThat(result.output()).contains(words, "--peer HOST");
    assertNoTrace(result);
  }

  @Test
  void aMalformedAddressIsNamed() throws Exception {
    Result result = run("no such host", DoctorProcess.command(DropInJar.path()));
    assertFails(result, "node", "no such host", "SPARK_LOCAL_IP");
  }

  @Test
  void aPortInUseIsNamed() throws Exception {
    try (ServerSocket used = new ServerSocket(0)) {
      String port = Integer.toString(used.getLocalPort());
      Result result = run("--provider", "soft", "--serve", "--port", port);
      assertFails(result, "serve", port, "--port");
    }
  }

  @Test
  @DisabledIf(value = "hasDevices", disabledReason = "this machine has RDMA devices")
  void withoutADeviceNothingIsServedByVerbs() throws Exception {
    Result result = run("--provider", "verbs", "--serve", "--port", "0");
    assertFails(result, "serve", "kernel has no RDMA");
  }

  static boolean hasDevices() {
    return Files.isDirectory(Path.of("/sys/class/infiniband"));
  }

  @Test
  void aPeerThatAcceptsAndDoesNotAnswerIsGivenUp() throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      Result result = run("--provider", "soft", "--peer", "localhost:" + silent.getLocalPort());
      assertFails(result, "peer", "no doctor answers on TCP port");
    }
  }

  @Test
  void aPeerThatIsNotKnownIsNamed() throws Exception {
    Result result = run("--provider", "soft", "--peer", "nobody.invalid");
    assertFails(result, "peer", "nobody.invalid", "UnknownHost");
  }

  @Test
  void aDirectoryThatIsNotThereIsNamed() throws Exception {
    String none = directory.resolve("none").toString();
    Result result = run("--provider", "soft", "--local-dirs", none);
    assertFails(result, "registration", none + " does not exist");
  }

  /** Runs in a mount namespace, so that no other process sees the mount. */
  @ParameterizedTest
  @CsvSource({
    "'size=64k,mode=777', 'cat /dev/zero >$1/full', 'is full'",
    "'mode=777', 'mount -o remount,ro $1', 'is not writable'"
  })
  void aDirectoryThatIsFullOrReadOnlyIsNamed(String options, String script, String words)
      throws Exception {
    assumeTrue(mountsWork(), "this user may not mount");
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    String mount = "mount -t tmpfs -o " + options + " tmpfs $1; " + script + " 2>/dev/null";
    List<String> command = new ArrayList<>(NAMESPACES);
    command.addAll(List.of("bash", "-c", mount + "; shift; exec \"$@\"", "doctor"));
    command.add(mounted.toString());
    command.addAll(
        DoctorProcess.command(
            DropInJar.path(), "--provider", "soft", "--local-dirs", mounted.toString()));
    assertFails(run(command), "registration", mounted + " " + words);
  }

  /**
   * Root of a user namespace has the capability that lifts the limit, but not the host's
   * capability.
   */
  @Test
  @DisabledIf(value = "hasDevices", disabledReason = "this machine has RDMA devices")
  void lockedMemoryInAUserNamespaceIsLimited() throws Exception {
    assumeTrue(mountsWork(), "this user may not make namespaces");
    List<String> command = new ArrayList<>(NAMESPACES);
    command.addAll(List.of("bash", "-c", "ulimit -l 8192; exec \"$@\"", "doctor"));
    command.addAll(DoctorProcess.command(DropInJar.path()));
    Result result = run(command);
    assertThat(result.findings("ok", "memlock"))
        .as(result.output())
        .singleElement()
        .asString()
        .contains("memlock 8192 KiB", "is valid in a user namespace only", "nothing is locked");
  }

  private static boolean mountsWork() throws Exception {
    List<String> command = new ArrayList<>(NAMESPACES);
    command.addAll(List.of("mount", "-t", "tmpfs", "tmpfs", "/mnt"));
    try {
      return new ProcessBuilder(command).start().waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no unshare(1)
    }
  }
}
