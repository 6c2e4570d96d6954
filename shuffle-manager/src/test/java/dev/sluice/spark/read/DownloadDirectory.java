package dev.sluice.spark.read;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.apache.spark.network.util.TransportConf;

/** Makes Spark's download files in a directory, as Spark's iterator does in its local ones. */
final class DownloadDirectory implements DownloadFileManager {
  private final Path directory;
  private final List<String> registered = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger created = new AtomicInteger();
  private volatile boolean taskIsOver;

  DownloadDirectory(Path directory) {
    this.directory = directory;
  }

  /** No file is taken over for cleaning any more. */
  void endTask() {
    taskIsOver = true;
  }

  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    return new SimpleDownloadFile(
        directory.resolve("temp-" + created.getAndIncrement()).toFile(), conf);
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    if (!taskIsOver) {
      registered.add(file.path());
    }
    return !taskIsOver;
  }

  /** Files that Spark would delete with the task. */
  List<String> registered() {
    return registered;
  }

  /** Files that are there. */
  List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Path::toString).toList();
    }
  }
}
