// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.suites;

import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.MiniMRClientCluster;
import org.apache.hadoop.mapred.TestReduceFetch;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.junit.jupiter.api.Assertions;
import org.junit.platform.commons.JUnitException;
import org.opentest4j.AssertionFailedError;

/**
 * A {@link HadoopCluster} for Hadoop's own tests, whose jobs use Sluice's shuffle plug-in by
 * default. {@link org.apache.hadoop.mapred.MiniMRClientClusterFactory} starts it and the test stops
 * it, both on the test's thread.
 */
public final class PluginCluster implements MiniMRClientCluster {
  /** Folder of the files of all clusters, which the test sets. */
  static final String FOLDER = "test.build.data";

  private static final String STAGING = "yarn.app.mapreduce.am.staging-dir";

  private static final String CLASS_PATH = "mapreduce.application.classpath";

  private static final int NODE_MB = 2048;

  /** A class of each jar and folder that tasks need beyond Hadoop's jars. */
  private static final List<Class<?>> CLASSES_OF_TASKS =
      List.of(
          TestReduceFetch.class,
          Assertions.class,
          JUnitException.class,
          AssertionFailedError.class);

  private final HadoopCluster cluster;
  private final Configuration job;

  private PluginCluster(HadoopCluster cluster, Configuration job) {
    this.cluster = cluster;
    this.job = job;
  }

  /**
   * @param name name of the cluster's folder
   * @param conf settings of the test, of which jobs get the default file system
   */
  public static PluginCluster start(String name, int nodes, Configuration conf) throws IOException {
    Path directory = Path.of(System.getProperty(FOLDER), name);
    Path root = Path.of(System.getProperty("sluice.root"));
    try {
      HadoopCluster cluster = HadoopCluster.start(directory, root, nodes, NODE_MB, "soft");
      return new PluginCluster(cluster, job(cluster.job(Shuffle.SLUICE), conf));
    } catch (InterruptedException e) {
      throw (IOException) new InterruptedIOException("starting a cluster").initCause(e);
    }
  }

  private static Configuration job(Map<String, String> settings, Configuration conf)
      throws IOException {
    Configuration job = new Configuration(conf);
    settings.forEach(job::set);
    FileSystem.setDefaultUri(job, FileSystem.getDefaultUri(conf));
    // Without the file system's name, an ApplicationMaster takes that of its node's core-site.xml.
    job.set(STAGING, FileSystem.getDefaultUri(conf) + job.get(STAGING));
    List<String> classPath = new ArrayList<>(List.of(job.get(CLASS_PATH)));
    for (Class<?> each : CLASSES_OF_TASKS) {
      classPath.add(jarOf(each));
    }
    job.set(CLASS_PATH, String.join(",", classPath));
    return job;
  }

  private static String jarOf(Class<?> one) throws IOException {
    try {
      return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }

  /** Returns the counters of the jobs that have ended, in their order. */
  List<Counters> countersOfJobs() throws IOException {
    FileSystem files = FileSystem.get(job);
    org.apache.hadoop.fs.Path histories =
        new org.apache.hadoop.fs.Path(cluster.histories() + "/*/*.jhist");
    List<Counters> counters = new ArrayList<>();
    for (FileStatus history : files.globStatus(histories)) { // sorted; names begin with the job's
      counters.add(new JobHistoryParser(files, history.getPath()).parse().getTotalCounters());
    }
    return counters;
  }

  /** Returns the last lines of all logs. */
  String logs() throws IOException {
    return cluster.logs();
  }

  @Override
  public Configuration getConfig() {
    return job;
  }

  @Override
  public void start() {}

  @Override
  public void restart() {
    throw new UnsupportedOperationException("restart");
  }

  @Override
  public void stop() {
    cluster.close();
  }
}
