package dev.sluice.spark.read;

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
 * A block on its way into one of Spark's download files. {@link DiskRead} uses it, on one thread at
 * a time, and ends it by {@link #finish} or {@link #abort}.
 */
final class PartialDownload {
  private static final Logger LOG = LoggerFactory.getLogger(PartialDownload.class);

  private final DownloadFileManager files;
  private final LocatedBlock located;
  private final PartitionVerifier verifier;
  private final DownloadFile file;
  private final DownloadFileWritableChannel channel;
  private long position;
  private boolean ended;

  PartialDownload(
      DownloadFileManager files, TransportConf conf, LocatedBlock located, boolean verifyChecksums)
      throws IOException {
    this.files = files;
    this.located = located;
    this.verifier = new PartitionVerifier(located, verifyChecksums);
    this.file = files.createTempFile(conf);
    try {
      this.channel = file.openForWriting();
    } catch (IOException | RuntimeException e) {
      delete();
      throw e;
    }
  }

  /** Bytes so far. */
  long position() {
    return position;
  }

  void append(MemorySegment bytes) throws IOException {
    verifier.update(bytes);
    ByteBuffer unwritten = bytes.asByteBuffer();
    while (unwritten.hasRemaining()) {
      position += channel.write(unwritten);
    }
  }

  /** Once all bytes were appended: whether they are the ones that were written. */
  boolean matches() {
    return verifier.matches();
  }

  /** Hands the file to Spark, which deletes it with its task, or to nobody and deletes it. */
  void finish(FetchCall call) throws IOException {
    ManagedBuffer data = channel.closeAndRead();
    ended = true;
    if (!call.deliver(located.block(), data) || !files.registerTempFileToClean(file)) {
      delete();
    }
  }

  /** Closes and deletes the file, unless that is done. */
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
