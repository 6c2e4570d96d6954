// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.NodeReader;
import java.io.IOException;
import java.util.Map;

/** Opens the reader of a reduce task. The plug-in finds it as a service. No state; any thread. */
public final class JobReaderFactory implements NodeReader.Factory {
  @Override
  public NodeReader open(
      String job, String secret, String reader, int partition, Map<String, String> settings)
      throws NodeReadException {
    ReaderSettings checked = ReaderSettings.of(settings);
    try {
      return new JobReader(new ProcessName(job, reader), secret, partition, checked);
    } catch (IOException e) {
      throw new NodeReadException(HttpReason.OFF, String.valueOf(e.getMessage()), e);
    }
  }
}
