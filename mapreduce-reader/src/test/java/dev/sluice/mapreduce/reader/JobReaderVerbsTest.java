// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

/** Reader and daemon on a real device. */
@NeedsRdmaDevice
final class JobReaderVerbsTest extends JobReaderTest {
  @Override
  String provider() {
    return "verbs";
  }

  @Test
  @Override
  void registeredMapOutputsAreRead() throws Exception {
    assumeRegistration();
    super.registeredMapOutputsAreRead();
  }

  @Test
  @Override
  void largePartitionsAreReadInPieces() throws Exception {
    assumeRegistration();
    super.largePartitionsAreReadInPieces();
  }

  private static void assumeRegistration() {
    assumeThat(RdmaDevices.kernelPinsForReading()).as("the kernel is 6.2 or newer").isTrue();
  }
}
