// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.verbs.NeedsRdmaDevice;

/** Reader and daemon on a real device. */
@NeedsRdmaDevice
final class JobReaderVerbsTest extends JobReaderTest {
  @Override
  String provider() {
    return "verbs";
  }
}
