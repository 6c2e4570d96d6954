// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.conf.Cgroup;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.MemoryBudget.Grant;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import dev.sluice.doctor.FixLine;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks of a node, with directories in place of /proc, /sys and /dev. */
class NodeChecksTest {
  private static final long MIB = 1 << 20;
  private static final MemoryBudget BUDGET = new MemoryBudget(120 * MIB, 48 * MIB, 24 * MIB);
  private static final Grant GRANT = new Grant(1024 * MIB, 0, 384 * MIB);
  private static final MemoryBudget LEAST = new MemoryBudget(4 * MIB, 4 * MIB, 4 * MIB);

  @TempDir private Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private static Finding only(Check check) throws Exception {
    List<Finding> findings = check.findings();
    assertThat(findings).hasSize(1);
    return findings.getFirst();
  }

  private static void assertFinding(Check check, Level level, String... words) throws Exception {
    Finding finding = only(check);
    assertThat(finding.level()).as(finding.said()).isEqualTo(level);
    assertThat(finding.said() + " SET " + finding.set()).contains(words);
    assertThat(finding.set().isEmpty()).isEqualTo(level == Level.OK);
  }

  @Test
  void javaIsNamedWithItsMachineAndADefectIsAWarning() throws Exception {
    assertFinding(
        new JavaCheck(Runtime.Version.parse("25.0.1"), true), Level.WARN, "25.0.1", "JAVA_HOME");
    assertFinding(
        new JavaCheck(Runtime.Version.parse("25.0.3"), true),
        Level.OK,
        "Java 25.0.3 on " + System.getProperty("os.arch"),
        "pages of %d KiB".formatted(PageSize.BYTES >> 10));
  }

  @Test
  void sparkAndHadoopAreKnownByTheirJars() throws Exception {
    assertThat(new SparkCheck(jars("4.2.0", "3.4.3"), 25).findings())
        .extracting(Finding::said)
        .containsExactly("Spark 4.2.0", "Hadoop 3.4.3");
    assertThat(new SparkCheck(jars("4.1.1", "3.4.2"), 25).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.FAIL);
    assertThat(new SparkCheck(jars("4.1.1", "3.4.2"), 21).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.OK);
    assertThat(new SparkCheck(jars("4.0.2.vendor", "3.5.0-vendor"), 25).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.OK);
    assertThat(new SparkCheck(jars("3.5.9", "3.3.4"), 25).findings())
        .extracting(Finding::level)
        .containsExactly(Level.FAIL, Level.FAIL);
    assertThat(new SparkCheck(jars("4.2.0", "3.5.0"), 26).findings())
        .extracting(Finding::level)
        .containsExactly(Level.WARN, Level.OK);
    assertFinding(
        new SparkCheck(List.of()), Level.OK, "for Spark 4.0 to 4.2", "SPARK_HOME is not set");
  }

  @Test
  void sparkWithoutHadoopIsSparkAlone() throws Exception {
    assertFinding(
        new SparkCheck(List.of(Path.of("/jars/spark-core_2.13-4.2.0.jar")), 25), Level.OK, "4.2.0");
  }

  @Test
  void aNodeWithoutAKnownSparkIsNotCheckedForTheReasonGiven() throws Exception {
    assertFinding(new SparkCheck(List.of()), Level.OK, "SPARK_HOME is not set, or has no jars");
    Check other = new SparkCheck(List.of(Path.of("/jars/spark-sql_2.13-4.2.0.jar")));
    assertFinding(other, Level.OK, "none of 1 jars is spark-core_2.13");
    assertThat(only(other).said()).doesNotContain("SPARK_HOME");
  }

  /** Spark 3.5 is for Scala 2.12, unless a user chooses the other one. */
  @Test
  void anOldSparkIsNamedWhateverItsScala() throws Exception {
    assertFinding(
        new SparkCheck(List.of(Path.of("/jars/spark-core_2.12-3.5.0.jar")), 25),
        Level.FAIL,
        "for Spark 4.0 to 4.2, and this is Spark 3.5.0",
        "docs/spark-versions.md");
  }

  private static List<Path> jars(String spark, String hadoop) {
    return List.of(
        Path.of("/jars/hadoop-client-api-" + hadoop + ".jar"),
        Path.of("/jars/spark-core_2.13-" + spark + ".jar"));
  }

  @Test
  void rdmaCoreIsTheLoadedRelease() throws Exception {
    write(
        "proc/self/maps",
        """
        7f00-7f01 r--p 00000000 08:01 1  /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0
        7f01-7f02 r-xp 00000000 08:01 1  /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0
        7f02-7f03 r-xp 00000000 08:01 2  /usr/lib/x86_64-linux-gnu/libc.so.6
        """);
    assertFinding(
        new RdmaCoreCheck(root),
        Level.OK,
        "rdma-core 44, /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0");
  }

  @Test
  void deviceFilesAreOpened() throws Exception {
    write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    write("sys/class/infiniband_verbs/abi_version", "6\n");
    assertFinding(deviceFiles(false), Level.FAIL, "uverbs0 does not exist", "--device");
    write("dev/infiniband/uverbs0", "");
    assertFinding(deviceFiles(false), Level.OK, "uverbs0 can be read and written");
    assertThat(deviceFiles(true).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.FAIL);
  }

  private DeviceFilesCheck deviceFiles(boolean usesRdmaCm, String... environment) {
    Map<String, String> given =
        environment.length == 0 ? Map.of() : Map.of(environment[0], environment[1]);
    return new DeviceFilesCheck(root, usesRdmaCm, given);
  }

  /** A host has no line: there the kernel makes the file, or the device is not there. */
  @Test
  void aMissingDeviceFileIsGivenToTheContainer() throws Exception {
    write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    assertThat(only(deviceFiles(false)).lines()).isEmpty();
    assertThat(only(deviceFiles(false, "container", "podman")).lines())
        .containsExactly(FixLine.of(FixLine.Place.CONTAINER, "--device=/dev/infiniband"));
    assertThat(only(deviceFiles(false, "KUBERNETES_SERVICE_HOST", "10.0.0.1")).lines())
        .singleElement()
        .satisfies(
            line -> assertThat(line.place()).isEqualTo(FixLine.Place.POD_LIMIT),
            line -> assertThat(line.text()).startsWith("rdma/rdma_shared_device_a: 1"));
  }

  /** /sys shows a pod all functions of its node's adapter, and /dev the one that it was given. */
  @Test
  void deviceFilesOfOtherContainersAreNotMissed() throws Exception {
    write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    write("sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
    write("dev/infiniband/uverbs1", "");
    assertThat(deviceFiles(false).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.OK);
  }

  @Test
  void deviceFilesThatMayNotBeOpenedAreNamedWithTheirPermissions() throws Exception {
    write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    write("dev/infiniband/uverbs0", "");
    Path file = root.resolve("dev/infiniband/uverbs0");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
    Assumptions.assumeFalse(Files.isWritable(file), "root may write to any file");
    assertFinding(deviceFiles(false), Level.FAIL, "r--r--r--", "0666");
    assertThat(only(deviceFiles(false)).lines())
        .containsExactly(FixLine.of(FixLine.Place.UDEV, "KERNEL==\"uverbs[0-9]*\", MODE=\"0666\""));
  }

  @Test
  void memlockIsComparedWithTheNeedsOfAnExecutor() throws Exception {
    limits("8388608", "0000000000000000", "0000000000000000");
    assertFinding(memlock(8 * MIB), Level.OK, "memlock 8192 KiB");
    assertFinding(memlock(9 * MIB), Level.OK, "9216 KiB", "without a device nothing is locked");
    Files.createDirectories(root.resolve("sys/class/infiniband"));
    assertFinding(memlock(9 * MIB), Level.OK, "9216 KiB", "without a device nothing is locked");
    write("sys/class/infiniband/mlx5_0/node_guid", "");
    assertFinding(memlock(9 * MIB), Level.FAIL, "9216 KiB", "ulimit -l");
    limits("8388608", "0000000000004000", "0000000000004000");
    assertFinding(memlock(9 * MIB), Level.OK, "exempt by CAP_IPC_LOCK");
  }

  private LockedMemoryCheck memlock(long neededBytes, String... environment) {
    Map<String, String> given =
        environment.length == 0 ? Map.of() : Map.of(environment[0], environment[1]);
    return new LockedMemoryCheck(root, given, neededBytes);
  }

  private void assertMemlockLine(FixLine line, String... environment) throws Exception {
    assertThat(only(memlock(9 * MIB, environment)).lines()).containsExactly(line);
  }

  /** IPC_LOCK helps only root of the host's user namespace. */
  @Test
  void theLineForMemlockBelongsWhereTheLimitComesFrom() throws Exception {
    write("sys/class/infiniband/mlx5_0/node_guid", "");
    limits("8388608", "0000000000000000", "0000000000000000");
    FixLine limits =
        FixLine.of(FixLine.Place.LIMITS, System.getProperty("user.name") + " - memlock unlimited");
    assertMemlockLine(limits);
    assertMemlockLine(
        FixLine.of(FixLine.Place.CONTAINER, "--ulimit memlock=-1"), "container", "podman");
    assertMemlockLine(unlimited("NODEMANAGER.service"), "CONTAINER_ID", "container_1_0001_01_2");
    write("proc/self/cgroup", "0::/system.slice/hadoop-nm.service\n");
    assertMemlockLine(unlimited("hadoop-nm.service"));
    assertMemlockLine(unlimited("hadoop-nm.service"), "CONTAINER_ID", "container_1_0001_01_2");

    write("proc/self/cgroup", "0::/kubepods.slice/crio-0123abcd.scope\n");
    assertMemlockLine(unlimited("crio.service"));
    write("proc/self/cgroup", "0::/kubepods.slice/cri-containerd-1.scope\n");
    assertMemlockLine(unlimited("containerd.service"));
    write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0\nCapBnd:\t0\n");
    write("proc/self/uid_map", "         0     100000      65536\n");
    assertMemlockLine(unlimited("containerd.service"));
    write("proc/self/uid_map", "         0          0 4294967295\n");
    assertMemlockLine(FixLine.of(FixLine.Place.POD_CAPABILITY, "- IPC_LOCK"));
  }

  private static FixLine unlimited(String unit) {
    return FixLine.ofUnit(unit, "LimitMEMLOCK=infinity");
  }

  private void assertMemlockIsRaised(String place, String way, String... environment)
      throws Exception {
    Finding finding = only(memlock(9 * MIB, environment));
    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.said()).contains(place);
    assertThat(finding.set()).contains(way);
    boolean runtime = way.contains("containerd") || way.contains("--ulimit");
    assertThat(finding.set().contains("runtime")).isEqualTo(runtime);
  }

  /** Any user of a plain host has all capabilities in the bounding set. */
  @Test
  void memlockIsRaisedWhereTheLimitComesFrom() throws Exception {
    write("sys/class/infiniband/mlx5_0/node_guid", "");
    limits("8388608", "0000000000000000", "000001ffffffffff");
    write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n");
    assertMemlockIsRaised("a plain host", "/etc/security/limits.d");
    write("proc/self/cgroup", "0::/user.slice/user-1000.slice/user@1000.service/app.slice\n");
    assertMemlockIsRaised("a plain host", "/etc/security/limits.d");
    write("proc/self/cgroup", "0::/system.slice/spark-worker.service\n");
    assertMemlockIsRaised("unit spark-worker.service", "unit spark-worker.service, and restart it");
    assertMemlockIsRaised(
        "a YARN container",
        "NodeManager",
        "CONTAINER_ID",
        "container_1700000000000_0001_01_000002");
    write("proc/self/cgroup", "0::/system.slice/docker-0123abcd.scope\n");
    assertMemlockIsRaised("a container", "--ulimit memlock=-1");
    write("proc/self/cgroup", "0::/\n");
    assertMemlockIsRaised("a container", "--ulimit memlock=-1", "container", "podman");
    assertMemlockIsRaised("a plain host", "/etc/security/limits.d");
    write("run/.containerenv", "");
    assertMemlockIsRaised("a container", "--ulimit memlock=-1");
    assertMemlockIsRaised("a Kubernetes pod", "containerd", "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    write("proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope\n");
    assertMemlockIsRaised("a Kubernetes pod", "containerd");
  }

  @Test
  void aKernelWithoutADeviceIsOneLine() throws Exception {
    Files.createDirectories(root.resolve("sys/class"));
    limits("8388608", "0000000000000000", "0000000000000000");
    List<Finding> findings = new CheckRunner().of(Checks.of(on("auto")));
    assertThat(findings)
        .filteredOn(finding -> finding.level() != Level.OK)
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.name()).isEqualTo("devices"),
            finding -> assertThat(finding.level()).isEqualTo(Level.WARN),
            finding -> assertThat(finding.consequences()).containsExactly("provider is soft"));
    assertThat(findings)
        .extracting(Finding::name)
        .doesNotContain("rdma-core", "device files", "port", "mappings");
  }

  private void limits(String memlock, String effective, String bounding) throws IOException {
    write("proc/self/limits", "Max locked memory         " + memlock + "  " + memlock + " bytes\n");
    write("proc/self/status", "CapEff:\t" + effective + "\nCapBnd:\t" + bounding + "\n");
  }

  private CgroupCheck cgroup(MemoryBudget budget, Grant grant) {
    return new CgroupCheck(new Cgroup(root), budget, grant, 100);
  }

  /** A budget may be small for other reasons, such as a small overhead. */
  @Test
  void aContainerIsOnlyBlamedIfItsLimitIsTheCause() throws Exception {
    write("proc/self/cgroup", "0::/pod\n");
    write("sys/fs/cgroup/pod/memory.max", "1073741824\n");
    Grant small = new Grant(512 * MIB, 128 * MIB, 16 * MIB);
    assertFinding(cgroup(LEAST, small), Level.OK, "1024 MiB");
    Grant full = new Grant(512 * MIB, 508 * MIB, 384 * MIB);
    assertFinding(cgroup(LEAST, full), Level.WARN, "leaves 4 of the 384 MiB");
  }

  @Test
  void cgroupsLimitMemoryAndDevices() throws Exception {
    assertFinding(cgroup(BUDGET, GRANT), Level.OK, "no memory limit");
    write("proc/self/cgroup", "0::/pod\n");
    write("sys/fs/cgroup/pod/memory.max", "1073741824\n");
    assertFinding(cgroup(BUDGET, GRANT), Level.OK, "1024 MiB");
    assertFinding(cgroup(LEAST, GRANT), Level.WARN, "1024 MiB", "memoryOverhead");
    write(
        "sys/fs/cgroup/pod/rdma.max",
        """
        mlx5_0 hca_handle=2 hca_object=max
        mlx5_1 hca_handle=2 hca_object=50
        mlx5_2 hca_handle=0 hca_object=0
        """);
    assertThat(cgroup(BUDGET, GRANT).findings())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.OK, Level.WARN, Level.FAIL);
  }

  @Test
  void fewMappingsAreAWarning() throws Exception {
    write("proc/sys/vm/max_map_count", "65530\n");
    assertFinding(new MappingsCheck(root), Level.OK, "32765 map outputs");
    write("proc/sys/vm/max_map_count", "8192\n");
    assertFinding(new MappingsCheck(root), Level.WARN, "8192", "vm.max_map_count=65530");
    assertThat(only(new MappingsCheck(root)).lines())
        .containsExactly(FixLine.of(FixLine.Place.SYSCTL, "vm.max_map_count = 65530"));
  }

  @Test
  void aBudgetAtItsFloorIsAWarning() throws Exception {
    assertFinding(
        new BudgetCheck(BUDGET, 384 * MIB, true),
        Level.OK,
        "120 MiB for map outputs, 48 MiB for buffers, 24 MiB",
        "overhead is 384 MiB");
    assertFinding(new BudgetCheck(LEAST, 384 * MIB, true), Level.WARN, "4 MiB", "memoryOverhead");
    assertThat(only(new BudgetCheck(LEAST, 384 * MIB, true)).lines())
        .as("it is large enough")
        .isEmpty();
    assertThat(only(new BudgetCheck(LEAST, 16 * MIB, true)).lines())
        .containsExactly(FixLine.setting("spark.executor.memoryOverhead", "384m"));
  }

  /** The kernel ends a container that takes more than it was granted. */
  @Test
  void aBudgetAboveTheOverheadIsAWarning() throws Exception {
    BudgetCheck above = new BudgetCheck(BUDGET, 191 * MIB, true);
    assertFinding(above, Level.WARN, "overhead is 191 MiB, which is less", "memoryOverhead");
    assertThat(only(above).lines())
        .as("limits that are derived grow with the overhead, so one line may not be enough")
        .isEmpty();
    assertFinding(new BudgetCheck(BUDGET, 191 * MIB, false), Level.OK, "overhead is 191 MiB");
  }

  @Test
  void localDirectoriesAreTriedOut() throws Exception {
    CheckContext soft = onSoft();
    assertFinding(new RegistrationCheck(soft, root), Level.OK, "soft", "open files");
    assertThat(root).isEmptyDirectory();
    assertFinding(
        new RegistrationCheck(soft, root.resolve("none")),
        Level.FAIL,
        "does not exist",
        "create it");
    write("file", "");
    assertFinding(
        new RegistrationCheck(soft, root.resolve("file")), Level.FAIL, "is not a directory");
    Path ofSpark = root.resolve("blockmgr-0c8f1a52-8a0b-4c6e-9d3e-1b2a3c4d5e6f");
    Files.createDirectory(ofSpark);
    assertFinding(
        new RegistrationCheck(soft, ofSpark), Level.OK, "outputs in " + root + "/... are");
  }

  @Test
  void aProviderThatWasAskedForIsOk() throws Exception {
    assertFinding(new ProviderCheck(onSoft()), Level.OK, "soft");
  }

  private CheckContext onSoft() {
    return on("soft");
  }

  private CheckContext on(String provider) {
    return new CheckContext(
        root,
        InetAddress.getLoopbackAddress(),
        new CheckContext.Rdma(
            provider, VerbsOptions.DEFAULT, SoftOptions.DEFAULT, TransferOptions.DEFAULT),
        new CheckContext.Memory(BUDGET, RegistrationMode.AUTO, List.of(root)),
        Contexts.noSpark(root));
  }
}
