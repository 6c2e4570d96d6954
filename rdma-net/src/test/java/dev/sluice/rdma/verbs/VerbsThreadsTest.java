// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.FewThreads;
import dev.sluice.rdma.NewThreads;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.IpLiteral;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads of a device, and their absence. */
class VerbsThreadsTest extends FakeAdaptersTestCase {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private VerbsOptions byCm() {
    return devices("mlx5_0")
        .with(
            o -> {
              o.connect = ConnectMode.CM;
              o.leaks = leaks.tracker();
            });
  }

  @Test
  void theThreadsHaveTheClassLoaderOfTheJar() throws Exception {
    NewThreads threads = new NewThreads();
    try (var _ = NewThreads.underAnotherLoader(() -> open(byCm()))) {
      assertThat(threads.started())
          .extracting(Thread::getName)
          .containsExactlyInAnyOrder("sluice-verbs-events", "sluice-verbs-cm");
      assertThat(threads.started())
          .allMatch(Thread::isDaemon)
          .extracting(Thread::getContextClassLoader)
          .containsOnly(DaemonThreads.class.getClassLoader());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sluice-verbs-events", "sluice-verbs-cm"})
  void aDeviceWhoseThreadCannotBeStartedLeavesNothingOpen(String missing) throws Exception {
    open(byCm()).close(); // links the functions, which may open files
    List<String> before = descriptors();
    Function<String, ThreadFactory> threads =
        name -> name.equals(missing) ? new FewThreads(0) : DaemonThreads.named(name);
    VerbsProvider provider = new VerbsProvider(byCm(), root, threads);
    assertThatThrownBy(() -> provider.open(IpLiteral.parse("10.9.9.9")))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(descriptors()).isEqualTo(before);
    assertThat(adapters.get(0, "close_device")).isEqualTo(adapters.get(0, "open_device"));
    assertThat(leaks.tracker().open()).isEmpty();
  }

  /** Returns what the open descriptors of pipes and eventfd(2) refer to. */
  private static List<String> descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.map(VerbsThreadsTest::target)
          .filter(target -> target.startsWith("pipe:") || target.contains("eventfd"))
          .sorted()
          .toList();
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // closed meanwhile
    }
  }
}
