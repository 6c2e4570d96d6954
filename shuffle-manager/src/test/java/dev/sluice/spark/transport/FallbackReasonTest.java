// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.TransferCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackReasonTest {
  private static final Path TROUBLESHOOTING = Path.of("../docs/troubleshooting.md");

  @ParameterizedTest
  @EnumSource
  void eachReasonIsInTheTroubleshootingGuide(FallbackReason reason) throws IOException {
    assertThat(Files.readString(TROUBLESHOOTING)).contains("\n| `" + reason + "` | ");
  }

  @ParameterizedTest
  @EnumSource
  void aFailedReadIsCalledTheSameWhereverItIsCounted(ReadException.Cause cause) {
    ReadException failure = new ReadException(cause, null, new PeerAddress("1", "host", 1), "");
    assertThat(FallbackReason.of(failure)).hasToString(cause.name());
    assertThat(TransferCounter.values())
        .extracting(TransferCounter::name)
        .contains("READS_" + cause);
  }
}
