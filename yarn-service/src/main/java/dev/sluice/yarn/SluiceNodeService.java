package dev.sluice.yarn;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the node's block server beside a NodeManager, as its user: on the disks of the NodeManager's
 * local directories, from its start to its end. Containers learn the socket by the variable
 * NM_AUX_SERVICE_sluice_node, which the NodeManager makes of {@link #getMetaData}. The NodeManager
 * makes one and calls it on its own threads.
 */
public final class SluiceNodeService extends AuxiliaryService {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceNodeService.class);

  /** As yarn.nodemanager.aux-services has to call it. */
  static final String NAME = "sluice_node";

  private static final String HOME = "sluice.yarn.home";
  private static final String JAVA_HOME = "sluice.yarn.java.home";
  private static final String CONF = "sluice.yarn.conf";
  private static final String SOCKET = "sluice.yarn.socket";
  private static final String LOCAL_DIRS = "yarn.nodemanager.local-dirs";
  private static final String HOST = "yarn.nodemanager.hostname";

  /** The daemon's names: of its folder in each directory, and of what says that one is over. */
  private static final String FOLDER = ".sluice";

  private static final String ENDED = ".ended";

  private List<Path> directories;
  private Path socket;
  private DaemonProcess daemon;

  public SluiceNodeService() {
    super(NAME);
  }

  /**
   * @throws IllegalArgumentException with which the NodeManager does not start, where the daemon is
   *     not installed
   */
  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    String home = conf.getTrimmed(HOME, "");
    File program = new File(home, "bin/sluice-node");
    if (home.isEmpty() || !program.canExecute()) {
      throw new IllegalArgumentException(
          HOME + " is \"" + home + "\", where there is no bin/sluice-node to execute");
    }
    directories = new ArrayList<>();
    for (String directory : conf.getTrimmedStrings(LOCAL_DIRS)) {
      directories.add(Paths.get(new org.apache.hadoop.fs.Path(directory).toUri().getPath()));
    }
    if (directories.isEmpty()) {
      throw new IllegalArgumentException(LOCAL_DIRS + " has no directory");
    }
    socket = Paths.get(conf.getTrimmed(SOCKET, defaultSocket().toString()));
    daemon = new DaemonProcess(program, conf.getTrimmed(JAVA_HOME, ""), log(), arguments(conf));
    super.serviceInit(conf);
  }

  /**
   * In the first directory that can be written to, but where it was before: containers, which may
   * outlive a NodeManager, are told of the socket for good.
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

  /** All but the directories, which may be good or bad at each start. */
  private List<String> arguments(Configuration conf) {
    List<String> arguments = new ArrayList<>();
    String file = conf.getTrimmed(CONF, "");
    if (!file.isEmpty()) {
      arguments.add("--conf");
      arguments.add(file);
    }
    arguments.add("--supervised");
    arguments.add("sluice.node.socket=" + socket);
    String host = conf.getTrimmed(HOST, "0.0.0.0");
    if (!host.equals("0.0.0.0")) {
      arguments.add("sluice.node.host=" + host);
    }
    return arguments;
  }

  /** Beside the NodeManager's. */
  private static File log() {
    String folder = System.getProperty("yarn.log.dir", System.getProperty("hadoop.log.dir", "."));
    return new File(folder, "sluice-node.log");
  }

  @Override
  protected void serviceStart() throws Exception {
    daemon.start(directories);
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    if (daemon != null) {
      daemon.stop();
    }
    super.serviceStop();
  }

  /** Executors come to the socket by themselves, with the secret. */
  @Override
  public void initializeApplication(ApplicationInitializationContext context) {}

  /** Says so in the daemon's folders, which looks there; a driver that ended well has said it. */
  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    String application = context.getApplicationId().toString();
    for (Path directory : directories) {
      Path folder = directory.resolve(FOLDER);
      if (Files.isDirectory(folder)) {
        try {
          end(folder, application);
        } catch (IOException | DirectoryIteratorException e) {
          LOG.warn("{} stays until it is given no sign of: {}", application, folder, e);
        }
      }
    }
  }

  /** Each of its runs, whose names go on with a dash. */
  private static void end(Path folder, String application) throws IOException {
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder, application + "-*")) {
      for (Path run : runs) {
        Files.write(run.resolve(ENDED), new byte[0], StandardOpenOption.CREATE);
      }
    }
  }

  /** The path of the daemon's socket. */
  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.wrap(socket.toString().getBytes(StandardCharsets.UTF_8));
  }
}
