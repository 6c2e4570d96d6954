// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.apache.spark.network.util.TransportConf;

/** Makes Spark's download files in a directory, as Spark's iterator does in its local ones. */
final class DownloadDirectory implements DownloadFileManager {
  private final Path directory;
  private final List<String> registered = Collections.synchronizedList(new ArrayList<>());
  private final List<Integer> writes = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger created = new AtomicInteger();
  private volatile boolean taskIsOver;

  DownloadDirectory(Path directory) {
    this.directory = directory;
  }

  /** Refuses to take over files for cleaning from now on. */
  void endTask() {
    taskIsOver = true;
  }

  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    Path path = directory.resolve("temp-" + created.getAndIncrement());
    return new SimpleDownloadFile(path.toFile(), conf) {
      @Override
      public DownloadFileWritableChannel openForWriting() throws IOException {
        return new CountingChannel(super.openForWriting(), writes);
      }
    };
  }

  /** Records how much is written at a time. */
  private record CountingChannel(DownloadFileWritableChannel file, List<Integer> writes)
      implements DownloadFileWritableChannel {
    @Override
    public int write(ByteBuffer bytes) throws IOException {
      writes.add(bytes.remaining());
      return file.write(bytes);
    }

    @Override
    public ManagedBuffer closeAndRead() throws IOException {
      return file.closeAndRead();
    }

    @Override
    public boolean isOpen() {
      return file.isOpen();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    if (!taskIsOver) {
      registered.add(file.path());
    }
    return !taskIsOver;
  }

  /** Returns the files that Spark would delete at the end of the task. */
  List<String> registered() {
    return registered;
  }

  /** Returns the bytes of each write. */
  List<Integer> writes() {
    return writes;
  }

  /** Returns the files that exist. */
  List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Path::toString).toList();
    }
  }
}
