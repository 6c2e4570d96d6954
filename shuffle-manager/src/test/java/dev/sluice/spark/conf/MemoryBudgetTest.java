package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryBudgetTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;

  @TempDir private Path root;
  private final SparkConf conf = new SparkConf(false);

  @Test
  void isAShareOfTheOverheadThatIsSet() {
    conf.set("spark.executor.memoryOverhead", "2g");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(640 * MIB, 256 * MIB, 128 * MIB));
  }

  @Test
  void isAShareOfWhatSparkDerivesForTheOverhead() {
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(120 * MIB, 48 * MIB, 24 * MIB));
    conf.set("spark.executor.memory", "16g").set("spark.executor.memoryOverheadFactor", "0.25");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(1280 * MIB, 512 * MIB, 256 * MIB));
  }

  @Test
  void isNoMoreThanTheContainerLeavesBesideHeapAndOffHeap() {
    conf.set("spark.executor.memoryOverhead", "8g")
        .set("spark.memory.offHeap.enabled", "true")
        .set("spark.memory.offHeap.size", "1g");
    long limit = HEAP + 1024 * MIB + 512 * MIB;
    assertThat(derive(0.5, OptionalLong.of(limit)))
        .isEqualTo(new MemoryBudget(160 * MIB, 64 * MIB, 32 * MIB));
  }

  @Test
  void staysAboveNothingWhereTheHeapFillsTheContainer() {
    MemoryBudget budget = derive(0.5, OptionalLong.of(HEAP));
    assertThat(budget.bufferBytes()).isEqualTo(4 * MIB);
    assertThat(budget.registrationBytes()).isEqualTo(4 * MIB);
  }

  @Test
  void findsTheLimitOfVersion2OnTheWayUp() throws IOException {
    write("proc/self/cgroup", "0::/yarn/container_1\n");
    write("sys/fs/cgroup/yarn/container_1/memory.max", "max\n");
    write("sys/fs/cgroup/yarn/memory.max", "4294967296\n");
    assertThat(MemoryBudget.containerLimit(root)).hasValue(4L << 30);
  }

  @Test
  void findsTheLimitOfVersion1() throws IOException {
    write("proc/self/cgroup", "12:cpu,cpuacct:/x\n5:memory:/pod\n");
    write("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "2147483648\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertThat(MemoryBudget.containerLimit(root)).hasValue(2L << 30);
  }

  @Test
  void findsTheContainersOwnLimitWhereThePathIsTheHosts() throws IOException {
    write("proc/self/cgroup", "0::/kubepods/pod42/abc\n");
    write("sys/fs/cgroup/memory.max", "1073741824\n");
    assertThat(MemoryBudget.containerLimit(root)).hasValue(1L << 30);
  }

  @Test
  void hasNoLimitWhereNoneIsSet() throws IOException {
    assertThat(MemoryBudget.containerLimit(root)).isEmpty();
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    assertThat(MemoryBudget.containerLimit(root)).isEmpty();
  }

  private MemoryBudget derive(double share, OptionalLong containerLimit) {
    return MemoryBudget.derive(conf, share, HEAP, containerLimit);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
