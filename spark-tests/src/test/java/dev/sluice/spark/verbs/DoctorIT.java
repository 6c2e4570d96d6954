// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.spark.deployment.DoctorProcess;
import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The doctor's report on a healthy node, and on each fault that it is made to find. One doctor
 * serves on the first device; the doctors that ask it use the second one.
 */
@NeedsRdmaDevice
@Cable.Needed
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DoctorIT {
  private static final Path DEVICE_FILE = Path.of("/dev/infiniband/uverbs1");
  private static final Set<PosixFilePermission> ANYBODY =
      PosixFilePermissions.fromString("rwxrwxrwx");

  /** Runs with the capability that a pod adds, which is then in the bounding set only. */
  private static final String AS_NOBODY = "exec setpriv --reuid 65534 --clear-groups \"$@\"";

  private static final String ONE_DEVICE =
      "number=$(stat -c \"0x%t 0x%T\" /dev/infiniband/uverbs1);"
          + " mount -t tmpfs tmpfs /dev/infiniband && mknod /dev/infiniband/uverbs1 c $number;"
          + " exec \"$@\"";

  private final Cable cable = new Cable();
  private final Path directory = forAnybody(Files.createTempDirectory(Path.of("/tmp"), "doctor"));
  private final Path jar =
      Files.copy(Path.of(System.getProperty("sluice.jar")), directory.resolve("sluice.jar"));
  private final DoctorProcess server =
      DoctorProcess.start(
          directory,
          Map.of("NCCL_IB_HCA", "=rxe0"),
          DoctorProcess.command(jar, "--serve", "--port", "0"));

  DoctorIT() throws IOException {}

  private static Path forAnybody(Path path) throws IOException {
    return Files.setPosixFilePermissions(path, ANYBODY);
  }

  @AfterEach
  void mend() throws Exception {
    cable.mend();
    forAnybody(DEVICE_FILE);
  }

  @AfterAll
  void stop() throws Exception {
    server.close();
  }

  private List<String> command() throws Exception {
    return DoctorProcess.command(
        jar, "--peer", "localhost:" + server.port(), "--local-dirs", directory.toString());
  }

  private Result run(List<String> command, String... environment) throws Exception {
    return DoctorProcess.run(
        directory,
        environment.length == 0
            ? Map.of("NCCL_IB_HCA", "=rxe1")
            : Map.of("NCCL_IB_HCA", "=rxe1", environment[0], environment[1]),
        command);
  }

  /** Runs the doctor in a shell, after a script. */
  private Result runAfter(String script) throws Exception {
    Stream<String> shell = Stream.of("bash", "-c", script, "doctor");
    return run(Stream.concat(shell, command().stream()).toList());
  }

  /** Runs a script and the doctor as a user who may not read root's files, perhaps not the JDK. */
  private Result runAsNobody(String script) throws Exception {
    String java = command().getFirst();
    assumeThat(run(List.of("bash", "-c", AS_NOBODY, "java", java, "-version")).exitCode())
        .as("user 65534 can start " + java)
        .isZero();
    return runAfter(script + AS_NOBODY);
  }

  private static void assertFound(Result result, String level, String name, String... words) {
    assertThat(result.findings(level, name))
        .as(result.output())
        .anySatisfy(found -> assertThat(found).contains(words));
    assertThat(result.exitCode()).isEqualTo(level.equals("fail") ? 2 : 1);
  }

  @Test
  void aHealthyNodeReadsFromAnother() throws Exception {
    Result result = run(command());
    assertThat(result.findings("fail|warn", ".*")).as(result.output()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.findings("ok", "rdma-core")).isNotEmpty();
    assertThat(result.findings("ok", "device files")).hasSize(2);
    assertThat(result.findings("ok", "devices")).singleElement().asString().contains("rxe1");
    assertThat(result.findings("ok", "port"))
        .anySatisfy(
            port -> assertThat(port).contains("rxe1:1", "ACTIVE", "10.77.0.2", "RoCE v2", "GID: "));
    assertThat(result.findings("ok", "registration"))
        .singleElement()
        .asString()
        .contains("verbs", "read-only mappings");
    assertThat(result.findings("ok", "peer"))
        .singleElement()
        .asString()
        .contains("(verbs rxe0)", "MB/s");
  }

  @Test
  void tooLittleLockedMemory() throws Exception {
    Result result = runAsNobody("ulimit -l 8192; ");
    assertFound(
        result,
        "fail",
        "memlock",
        "memlock 8192 KiB",
        "in the bounding set only",
        "effect: provider is soft; peer was not checked",
        "fix: ");
    assertThat(result.findings("warn|fail", ".*")).as(result.output()).hasSize(1);
  }

  /**
   * The container has the file of one of several devices, and sees all of them in /sys, as a pod
   * with one of several functions does.
   */
  @Test
  void aContainerWithOneOfTheDevicesIsHealthy() throws Exception {
    Result result = runAfter("exec unshare -m bash -c '" + ONE_DEVICE + "' doctor \"$@\"");
    assertThat(result.findings("fail|warn", ".*")).as(result.output()).isEmpty();
    assertThat(result.findings("ok", "device files"))
        .anySatisfy(found -> assertThat(found).contains("uverbs1 can be read and written"))
        .anySatisfy(found -> assertThat(found).contains("uverbs0: not of this container"));
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void aDeviceFileWithoutPermission() throws Exception {
    Files.setPosixFilePermissions(DEVICE_FILE, PosixFilePermissions.fromString("rw-------"));
    Result result = runAsNobody("");
    assertFound(
        result,
        "fail",
        "device files",
        "uverbs1 cannot be opened (rw------- of root)",
        "rxe1 is not used; provider is soft; peer was not checked");
  }

  @Test
  void aPortThatIsDown() throws Exception {
    cable.suffer(Cable.Fault.CUT);
    assertFound(run(command()), "fail", "port", "rxe1:1 is DOWN and not ACTIVE", "ip link set");
  }

  @Test
  void theWrongGid() throws Exception {
    Result result = run(command(), "NCCL_IB_GID_INDEX", "0");
    assertThat(result.findings("warn", "gid"))
        .as(result.output())
        .singleElement()
        .asString()
        .contains("is link-local", "remove NCCL_IB_GID_INDEX");
    assertFound(
        run(command(), "NCCL_IB_GID_INDEX", "99"), "fail", "port", "has no GID at index 99");
  }

  @Test
  void mtusThatDiffer() throws Exception {
    cable.suffer(Cable.Fault.NARROW);
    assertFound(run(command()), "warn", "mtu", "MTU is 1024 here and 4096 at localhost");
  }

  @Test
  void aSmallerMtuOnTheWay() throws Exception {
    cable.suffer(Cable.Fault.SWALLOWING);
    assertFound(
        run(command()),
        "fail",
        "peer",
        "small READs succeed, but large ones fail",
        "the MTU of 4096 bytes",
        "MTU of the switch ports");
  }

  @Test
  void aRouteThatGoesOneWayOnly() throws Exception {
    cable.suffer(Cable.Fault.ONE_WAY);
    assertFound(
        run(command()),
        "fail",
        "peer",
        "one way only: packets arrive there, but none comes back from 10.77.0.1 to 10.77.0.2",
        "routes and VLAN");
  }
}
