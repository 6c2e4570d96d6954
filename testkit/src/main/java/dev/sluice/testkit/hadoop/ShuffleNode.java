// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;

/**
 * Process that runs a NodeManager's auxiliary services without the NodeManager: Hadoop's shuffle
 * service and the node daemon's. It tells them of one job, prints the port of Hadoop's service, and
 * ends with its standard input. {@link ShuffleNodes} starts it. It has Hadoop's class path, so it
 * uses no other class of the testkit.
 */
final class ShuffleNode {
  private static final String SERVICES = YarnConfiguration.NM_AUX_SERVICES;
  private static final long START_MS = 180_000;

  private final Configuration conf;

  private ShuffleNode(Configuration conf) {
    this.conf = conf;
  }

  /**
   * @param arguments application, user, and the job's secret in Base64
   */
  public static void main(String[] arguments) {
    PrintStream out = System.out;
    System.setOut(System.err);
    try {
      run(arguments, out);
    } catch (Exception | LinkageError e) {
      e.printStackTrace();
      System.exit(1); // Threads of the services would keep the process.
    }
  }

  private static void run(String[] arguments, PrintStream out) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("yarn-site.xml");
    ShuffleNode node = new ShuffleNode(conf);
    AuxiliaryService daemon = node.service("sluice_node");
    daemon.start();
    node.awaitDaemon();
    AuxiliaryService shuffle = node.service("mapreduce_shuffle");
    shuffle.start();
    shuffle.initializeApplication(
        new ApplicationInitializationContext(
            arguments[1],
            ApplicationId.fromString(arguments[0]),
            token(arguments[0], arguments[2])));
    out.println(shuffle.getMetaData().getInt());
    while (System.in.read() >= 0) {
      // The starter writes nothing.
    }
    shuffle.stop();
    daemon.stop();
  }

  private AuxiliaryService service(String name) throws ClassNotFoundException {
    String type = SERVICES + "." + name + ".class";
    AuxiliaryService service =
        ReflectionUtils.newInstance(
            conf.getClassByName(conf.get(type)).asSubclass(AuxiliaryService.class), conf);
    service.setAuxiliaryLocalPathHandler(new LocalFiles());
    service.init(conf);
    return service;
  }

  /**
   * The service of Hadoop tells the daemon of jobs in folders that the daemon makes, and a reader
   * that finds no daemon does not ask again for some time.
   */
  private void awaitDaemon() throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MS);
    while (!directories().stream().allMatch(ShuffleNode::hasFolder) || !listens()) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new IOException("the node daemon did not start");
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static boolean hasFolder(String directory) {
    return Files.exists(java.nio.file.Path.of(directory, ".sluice"));
  }

  private boolean listens() {
    try (Socket _ =
        new Socket(
            conf.get("yarn.nodemanager.hostname"), conf.getInt("sluice.mapreduce.port", 0))) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private List<String> directories() {
    return List.of(conf.getTrimmedStrings(YarnConfiguration.NM_LOCAL_DIRS));
  }

  /** Returns a job's token as its ApplicationMaster sends it to the service. */
  private static ByteBuffer token(String job, String secret) throws IOException {
    Token<JobTokenIdentifier> token =
        new Token<>(
            new JobTokenIdentifier(new Text(job)).getBytes(),
            Base64.getDecoder().decode(secret),
            new Text("mapreduce.job"),
            new Text("job"));
    DataOutputBuffer bytes = new DataOutputBuffer();
    token.write(bytes);
    return ByteBuffer.wrap(bytes.getData(), 0, bytes.getLength());
  }

  /** Finds the files of map outputs, as a NodeManager does for its services. */
  private final class LocalFiles implements AuxiliaryLocalPathHandler {
    @Override
    public Path getLocalPathForRead(String path) throws IOException {
      for (Path file : getAllLocalPathsForRead(path)) {
        return file;
      }
      throw new FileNotFoundException(path);
    }

    @Override
    public Iterable<Path> getAllLocalPathsForRead(String path) {
      List<Path> found = new ArrayList<>();
      for (String directory : directories()) {
        java.nio.file.Path file = java.nio.file.Path.of(directory, path);
        if (Files.exists(file)) {
          found.add(new Path(file.toString())); // ShuffleHandler wants no scheme
        }
      }
      return found;
    }

    @Override
    public Path getLocalPathForWrite(String path) throws IOException {
      throw new IOException("services write no files");
    }

    @Override
    public Path getLocalPathForWrite(String path, long size) throws IOException {
      return getLocalPathForWrite(path);
    }
  }
}
