// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.ApplicationSecret;
import java.io.IOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.util.TransportConf;

/** A MapReduce job on a node: what YARN's service and Hadoop's map tasks write. */
record JobFixture(String applicationId, String user, List<Path> directories) {
  static final String SECRET = "c2VjcmV0IG9mIHRoZSBqb2I=";

  String name() {
    return applicationId + "-mapreduce";
  }

  /** Returns the authentication of the job's readers. */
  AuthClientBootstrap authentication(TransportConf conf) {
    return new AuthClientBootstrap(conf, name(), new ApplicationSecret(SECRET));
  }

  /** Returns the job's folder in one of the daemon's directories. */
  static Path folder(Path directory, String name) {
    return directory.resolve(".sluice").resolve(name);
  }

  /** Tells the daemon of the job. */
  void announce(boolean checkOwner) throws IOException {
    Properties job = new Properties();
    job.setProperty("secret", SECRET);
    job.setProperty("user", user);
    job.setProperty("checkOwner", Boolean.toString(checkOwner));
    for (Path directory : directories) {
      Path root = directory.resolve(".sluice");
      if (!Files.exists(root)) {
        Files.createDirectory(root);
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
      }
      Path folder = Files.createDirectory(folder(directory, name()));
      try (Writer file = Files.newBufferedWriter(folder.resolve("job"))) {
        job.store(file, null);
      }
    }
  }

  /** Marks the job as ended. */
  void end() throws IOException {
    for (Path directory : directories) {
      Files.createFile(folder(directory, name()).resolve(".ended"));
    }
  }

  /** Returns the folder of its files in a directory. */
  Path files(Path directory) {
    return directory.resolve("usercache").resolve(user).resolve("appcache").resolve(applicationId);
  }

  static long mapId(int task, int attempt) {
    return (long) task << Integer.SIZE | attempt;
  }

  /** Returns the folder of a map output's files in a directory. */
  Path output(Path directory, int task, int attempt) {
    String id = applicationId.replace("application", "attempt");
    return files(directory).resolve("output").resolve("%s_m_%06d_%d".formatted(id, task, attempt));
  }

  /**
   * Writes a map output with random bytes, and returns them. The raw length of each partition is
   * ten times its length.
   *
   * @param ofIndex directory of the index file, which may differ
   */
  byte[] write(Path directory, Path ofIndex, int task, int attempt, int... partitionBytes)
      throws IOException {
    ByteBuffer index = ByteBuffer.allocate((3 * partitionBytes.length + 1) * Long.BYTES);
    int total = 0;
    for (int bytes : partitionBytes) {
      index.putLong(total).putLong(10L * bytes).putLong(bytes);
      total += bytes;
    }
    CRC32 crc = new CRC32();
    crc.update(index.array(), 0, index.position());
    index.putLong(crc.getValue());
    byte[] data = new byte[total];
    new Random(task).nextBytes(data);
    Path output = Files.createDirectories(output(directory, task, attempt));
    Files.write(output.resolve("file.out"), data);
    Path indexes = Files.createDirectories(output(ofIndex, task, attempt));
    Files.write(indexes.resolve("file.out.index"), index.array());
    return data;
  }
}
