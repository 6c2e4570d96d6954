// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.cluster.mapreduce.UserJob;
import dev.sluice.testkit.OtherUser;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import dev.sluice.testkit.hadoop.HadoopUsers;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.launcher.JavaModuleOptions;
import scala.Tuple2;

/**
 * A cluster of Hadoop with several users, and applications that {@link OtherUser#OWNER} submits to
 * it. A test class starts it and closes it. For one thread.
 */
final class UserCluster implements AutoCloseable {
  private static final Path ROOT = Path.of(System.getProperty("sluice.root"));

  /** Memory of an ApplicationMaster and two executors, in MiB. */
  private static final int NODE_MB = 4096;

  /** Options of JVMs that live for seconds, several of them on a core. */
  private static final String SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1";

  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";

  private final Path directory;
  private final String javaOptions;
  private final HadoopCluster cluster;

  private UserCluster(Path directory, String javaOptions, HadoopCluster cluster) {
    this.directory = directory;
    this.javaOptions = javaOptions;
    this.cluster = cluster;
  }

  /** Skips the test where no processes of other users can run. Lets all users into its folder. */
  static void assumeUsers(Path directory) throws IOException {
    for (Path reached : List.of(directory, Path.of("").toAbsolutePath())) { // and this repository
      String reason = OtherUser.reasonAgainst(reached);
      if (!reason.isEmpty()) {
        System.out.println("Skipped: " + reason);
      }
      assumeTrue(reason.isEmpty(), reason);
    }
  }

  /**
   * @param directory folder of all files
   * @param security settings of a secure cluster; empty for another one
   * @param moreOptions options of all JVMs; may be empty
   */
  static UserCluster start(Path directory, Map<String, String> security, String moreOptions)
      throws Exception {
    String javaOptions = (SHORT_LIVED + " " + moreOptions).strip();
    HadoopUsers users = new HadoopUsers(security, javaOptions);
    Path files = directory.resolve("cluster");
    return new UserCluster(
        directory, javaOptions, HadoopCluster.start(files, ROOT, NODE_MB, users));
  }

  /**
   * Runs {@link ReleasedExecutors} by Spark's SparkSubmit class in client mode, and checks that it
   * succeeds.
   *
   * @param login arguments of SparkSubmit that log the user in; may be empty
   */
  void runSpark(List<String> login) throws Exception {
    Path own = makeDirectory("spark");
    List<String> arguments = new ArrayList<>(login);
    arguments.addAll(List.of("--class", ReleasedExecutors.class.getName()));
    for (Tuple2<String, String> setting : spark(own).getAll()) {
      arguments.addAll(List.of("--conf", setting._1 + "=" + setting._2));
    }
    arguments.add("spark-internal"); // The class is on the class path.
    run(own, List.of(), "org.apache.spark.deploy.SparkSubmit", arguments);
  }

  private SparkConf spark(Path own) throws Exception {
    String jars = readable(NodeManagerIT.sparkClassPath(), "spark-jars");
    SparkConf conf = NodeManagerIT.spark(own, jars, new Configuration(false));
    String java = System.getProperty("java.home");
    return conf.set("spark.yarn.appMasterEnv.JAVA_HOME", java)
        .set("spark.executorEnv.JAVA_HOME", java)
        .set("spark.authenticate", "true")
        .set("spark.shuffle.rdma.node.user", OtherUser.MANAGER.name())
        .set("spark.dynamicAllocation.enabled", "true")
        .set("spark.dynamicAllocation.minExecutors", "0")
        .set("spark.dynamicAllocation.executorIdleTimeout", "2s")
        .set(EXECUTOR_CLASS_PATH, readable(conf.get(EXECUTOR_CLASS_PATH), "executor-jars"));
  }

  /**
   * Runs {@link UserJob}, and checks that it succeeds.
   *
   * @param login the user's principal and keytab; two empty texts if the cluster is not secure
   */
  void runMapReduce(List<String> login) throws Exception {
    Path own = makeDirectory("mapreduce");
    List<String> arguments = new ArrayList<>(login);
    arguments.add(own.resolve("words").toString());
    Map<String, String> job = cluster.job(Shuffle.SLUICE);
    job.forEach((key, value) -> arguments.add(key + "=" + value));
    // The submitter needs Hadoop's own jars: with Kerberos, it asks the ApplicationMaster by them.
    String hadoop = job.getOrDefault("mapreduce.application.classpath", "");
    run(own, List.of(hadoop.split(",")), UserJob.class.getName(), arguments);
  }

  private Path makeDirectory(String name) throws IOException {
    return OtherUser.OWNER.makeDirectory(directory.resolve(name), OtherUser.OWNER, "0755");
  }

  private String readable(String classPath, String folder) throws IOException {
    return OtherUser.readable(classPath, directory.resolve(folder));
  }

  private void run(Path own, List<String> moreJars, String main, List<String> arguments)
      throws Exception {
    List<String> command = new ArrayList<>(OtherUser.OWNER.launcher());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.addAll(List.of("-ea", "-Xmx1g", "-Djava.io.tmpdir=" + own, "-Duser.home=" + own));
    List<String> classPath = new ArrayList<>();
    classPath.add(cluster.configuration().toString());
    classPath.add(readable(System.getProperty("java.class.path"), own.getFileName() + "-main"));
    classPath.addAll(moreJars);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main));
    command.addAll(arguments);
    Path log = directory.resolve(own.getFileName() + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(own.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("HADOOP_CONF_DIR", cluster.configuration().toString());
    builder.environment().put("JAVA_TOOL_OPTIONS", javaOptions);
    int status = builder.start().waitFor();
    assertThat(status).as("%s%n%s", Files.readString(log), cluster.logs()).isZero();
  }

  @Override
  public void close() {
    cluster.close();
  }
}
