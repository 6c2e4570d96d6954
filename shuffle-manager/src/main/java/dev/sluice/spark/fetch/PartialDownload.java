// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.LargeBlockRead.PartialBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A block that is written to one of Spark's download files. {@link PartialBlock} names owner and
 * threads. It closes the file at its end. Spark deletes files that it took; this deletes all
 * others.
 */
final class PartialDownload extends PartialBlock {
  private static final Logger LOG = LoggerFactory.getLogger(PartialDownload.class);

  private final DownloadFileManager files;
  private final RequestedBlock block;
  private final DownloadFile file;
  private final DownloadFileWritableChannel channel;
  private boolean ended;

  PartialDownload(DownloadFileManager files, TransportConf conf, RequestedBlock block)
      throws IOException {
    this.files = files;
    this.block = block;
    this.file = files.createTempFile(conf);
    try {
      this.channel = file.openForWriting();
    } catch (IOException | RuntimeException e) {
      delete();
      throw e;
    }
  }

  @Override
  void store(MemorySegment slice) throws IOException {
    ByteBuffer unwritten = slice.asByteBuffer();
    while (unwritten.hasRemaining()) {
      channel.write(unwritten);
    }
  }

  /**
   * Hands the file to Spark, which deletes it at the end of the task. Deletes it if the block has
   * its answer, or if Spark takes no more files.
   */
  @Override
  void finish(FetchCall call, boolean staged) throws IOException {
    ManagedBuffer data = channel.closeAndRead();
    ended = true;
    if (!call.deliver(block, data, staged) || !files.registerTempFileToClean(file)) {
      delete();
    }
  }

  /** Closes and deletes the file, unless the block has ended before. */
  @Override
  void abort() {
    if (ended) {
      return;
    }
    ended = true;
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("Could not close {}", file.path(), e);
    }
    delete();
  }

  private void delete() {
    if (!file.delete()) {
      LOG.warn("Could not delete {}", file.path());
    }
  }
}
