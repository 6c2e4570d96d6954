// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import static java.util.Objects.requireNonNull;

import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the node daemon for the lifetime of a NodeManager, under the same user and on the disks of
 * the NodeManager's local directories. Containers find the daemon's socket in the variable
 * NM_AUX_SERVICE_sluice_node, which the NodeManager sets from {@link #getMetaData}. The NodeManager
 * creates one instance and calls it on its own threads: init, start, applications, stop. Fields are
 * set by init and not changed afterwards.
 */
public final class SluiceNodeService extends AuxiliaryService {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceNodeService.class);

  /** Name of the service; yarn.nodemanager.aux-services must use the same. */
  static final String NAME = "sluice_node";

  private static final String HOME = "sluice.yarn.home";
  private static final String JAVA_HOME = "sluice.yarn.java.home";
  private static final String CONF = "sluice.yarn.conf";
  private static final String SOCKET = "sluice.yarn.socket";
  private static final String LOCAL_DIRS = "yarn.nodemanager.local-dirs";
  private static final String HOST = "yarn.nodemanager.hostname";
  private static final String MAPREDUCE_PORT = "sluice.mapreduce.port";

  /**
   * The daemon's folder in each directory, and the file that marks an application as ended. The
   * daemon has the same names; this module does not depend on it.
   */
  static final String FOLDER = ".sluice";

  private static final String ENDED = ".ended";

  private final List<Path> directories = new ArrayList<>();

  /** Set by {@link #serviceInit}, which precedes every other call. */
  @SuppressWarnings("NullAway.Init")
  private Path socket;

  private @Nullable DaemonProcess daemon;

  /** Marks ended applications. */
  private @Nullable DirectoryThreads threads;

  public SluiceNodeService() {
    super(NAME);
  }

  /**
   * @throws IllegalArgumentException if the daemon is not installed; the NodeManager then does not
   *     start
   */
  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    String home = conf.getTrimmed(HOME, "");
    File program = new File(home, "bin/sluice-node");
    if (home.isEmpty() || !program.canExecute()) {
      throw new IllegalArgumentException(
          HOME + " is \"" + home + "\", which has no executable bin/sluice-node");
    }
    directories.addAll(localDirectories(conf));
    if (directories.isEmpty()) {
      throw new IllegalArgumentException(LOCAL_DIRS + " names no directory");
    }
    socket = Paths.get(conf.getTrimmed(SOCKET, defaultSocket().toString()));
    threads = new DirectoryThreads(directories, DirectoryThreads.TIMEOUT);
    daemon = new DaemonProcess(program, conf.getTrimmed(JAVA_HOME, ""), log(), arguments(conf));
    super.serviceInit(conf);
  }

  /** Returns the NodeManager's local directories. */
  static List<Path> localDirectories(Configuration conf) {
    List<Path> directories = new ArrayList<>();
    for (String directory : conf.getTrimmedStrings(LOCAL_DIRS)) {
      directories.add(Paths.get(new org.apache.hadoop.fs.Path(directory).toUri().getPath()));
    }
    return directories;
  }

  /**
   * Returns the socket path: the existing socket, else one in the first writable directory. The
   * path must not change, because containers may outlive a NodeManager and learn it only once.
   */
  private Path defaultSocket() {
    List<Path> sockets =
        directories.stream()
            .filter(Files::isWritable)
            .map(directory -> directory.resolve("sluice-node.sock"))
            .collect(Collectors.toList());
    Path first =
        sockets.isEmpty() ? directories.get(0).resolve("sluice-node.sock") : sockets.get(0);
    return sockets.stream().filter(Files::exists).findFirst().orElse(first);
  }

  /** Returns all arguments but the directories, which each launch checks for write access. */
  private List<String> arguments(Configuration conf) {
    List<String> arguments = new ArrayList<>();
    String file = conf.getTrimmed(CONF, "");
    if (!file.isEmpty()) {
      arguments.add("--conf");
      arguments.add(file);
    }
    new RegisteredMemory(Paths.get("/proc/meminfo"))
        .setting(conf, settings(file))
        .ifPresent(arguments::add);
    arguments.add("--supervised");
    arguments.add("sluice.node.socket=" + socket);
    String host = conf.getTrimmed(HOST, "0.0.0.0");
    if (!host.equals("0.0.0.0")) {
      arguments.add("sluice.node.host=" + host);
    }
    String port = conf.getTrimmed(MAPREDUCE_PORT, "");
    if (!port.isEmpty()) {
      arguments.add("sluice.node.mapreduce.port=" + port);
    }
    return arguments;
  }

  /**
   * Reads the settings of the daemon's file. If it cannot be read, returns none: the daemon then
   * reports the error, and is restarted until it can read the file.
   */
  private static Properties settings(String file) {
    Properties settings = new Properties();
    if (file.isEmpty()) {
      return settings;
    }
    try (Reader reader = Files.newBufferedReader(Paths.get(file))) {
      settings.load(reader);
      return settings;
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn(
          "Cannot read {}, which {} names. The node daemon does not start until it can be read"
              + " (see {}). A {} that is set there later takes effect only after a restart of the"
              + " NodeManager",
          file,
          CONF,
          log(),
          RegisteredMemory.SETTING,
          e);
      return new Properties();
    }
  }

  /** Returns the daemon's log file, which lies in the NodeManager's log directory. */
  private static File log() {
    String folder = System.getProperty("yarn.log.dir", System.getProperty("hadoop.log.dir", "."));
    return new File(folder, "sluice-node.log");
  }

  @Override
  protected void serviceStart() throws Exception {
    requireNonNull(daemon).start(directories);
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    if (daemon != null) {
      daemon.stop();
    }
    if (threads != null) {
      threads.close();
    }
    super.serviceStop();
  }

  /**
   * Does nothing: executors connect to the socket themselves, with the secret. {@link
   * JobShuffleHandler} tells the daemon of MapReduce jobs.
   */
  @Override
  public void initializeApplication(ApplicationInitializationContext context) {}

  /**
   * Marks the application as ended in the daemon's folders, which the daemon checks. Waits for one
   * directory. A driver that ended normally has already told the daemon; a MapReduce job has no
   * other way.
   */
  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    String application = context.getApplicationId().toString();
    requireNonNull(threads)
        .onEach(
            "marking "
                + application
                + " as ended (the node daemon otherwise removes it after sluice.node.expireAfter)",
            directory -> end(directory, application));
  }

  /**
   * Marks each run of an application; their names start with the application's id and a dash.
   *
   * @return false if the daemon does not use the directory
   */
  static boolean end(Path directory, String application) throws IOException {
    Path folder = directory.resolve(FOLDER);
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder, application + "-*")) {
      for (Path run : runs) {
        Files.write(run.resolve(ENDED), new byte[0], StandardOpenOption.CREATE);
      }
    }
    return true;
  }

  /** Returns the path of the daemon's socket. */
  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.wrap(socket.toString().getBytes(StandardCharsets.UTF_8));
  }
}
