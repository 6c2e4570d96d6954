package dev.sluice.blocks.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.LockedMemory;
import dev.sluice.rdma.verbs.LockedMemory.Exemption;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeMemoryTest {
  private static final long MIB = 1 << 20;
  private static final NodeOptions OPTIONS =
      options(
          Map.of(
              "sluice.node.registration.maxBytes", "8g",
              "sluice.node.maxApplications", "4"));

  private static NodeOptions options(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("sluice.node.directories", "/data1");
    return NodeOptions.of(settings);
  }

  private static LockedMemory limit(long bytes) {
    return new LockedMemory(bytes, Exemption.NONE);
  }

  @Test
  void anApplicationHasItsPart() {
    assertThat(NodeMemory.configured(OPTIONS)).isEqualTo(new NodeMemory(2048 * MIB, 64 * MIB, 4));
  }

  @Test
  void whatMayBeLockedSuffices() throws Exception {
    for (LockedMemory locked :
        new LockedMemory[] {
          limit(9L << 30), limit(Long.MAX_VALUE), new LockedMemory(0, Exemption.EFFECTIVE)
        }) {
      assertThat(NodeMemory.within(locked, OPTIONS)).isEqualTo(NodeMemory.configured(OPTIONS));
    }
  }

  /** 8 MiB for 1,024 accepted queue pairs, and not 64 KiB for a send queue of each. */
  @Test
  void whatMayBeLockedIsTakenWhereItIsLess() throws Exception {
    assertThat(NodeMemory.within(limit(1L << 30), OPTIONS))
        .isEqualTo(new NodeMemory((256 - 64 - 8) * MIB, 64 * MIB, 4));
    assertThat(NodeMemory.within(limit(64 * MIB), OPTIONS))
        .isEqualTo(new NodeMemory((16 - 4 - 4) * MIB, 4 * MIB, 4));
    assertThat(NodeMemory.within(limit(8 * MIB), OPTIONS))
        .as("not for all at once")
        .isEqualTo(new NodeMemory(0, 4 * MIB, 4));
  }

  @Test
  void tooLittleForOneApplicationIsNone() {
    assertThatThrownBy(() -> NodeMemory.within(limit(64 << 10), OPTIONS))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContainingAll("memlock 64 KiB", "8192 KiB at least", "LimitMEMLOCK");
  }
}
