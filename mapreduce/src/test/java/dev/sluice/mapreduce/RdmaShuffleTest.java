// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Failures of the plug-in, with a reader that has nothing to READ. */
@Timeout(60)
final class RdmaShuffleTest {
  private static final TaskAttemptID REDUCE =
      TaskAttemptID.forName("attempt_1700000000000_0012_r_000000_0");

  @TempDir private Path directory;

  private final ScriptedMaster master = new ScriptedMaster();
  private final RdmaShuffle<Text, IntWritable> shuffle = new RdmaShuffle<>();

  @BeforeEach
  void begin() throws Exception {
    Path jars = Files.createDirectory(directory.resolve("jars"));
    try (JarOutputStream jar =
        new JarOutputStream(Files.newOutputStream(jars.resolve("reader.jar")))) {
      jar.putNextEntry(new ZipEntry("META-INF/services/" + NodeReader.Factory.class.getName()));
      jar.write(Factory.class.getName().getBytes(StandardCharsets.UTF_8));
    }
    Factory.isClosed = new CountDownLatch(1);
    Factory.mayClose = new CountDownLatch(0);
    shuffle.init(context(1));
  }

  private ShuffleConsumerPlugin.Context<Text, IntWritable> context(int maps) throws IOException {
    JobConf conf = new JobConf(false);
    conf.set(MRConfig.LOCAL_DIR, directory.toString());
    conf.setLong("mapreduce.reduce.memory.totalbytes", 64 << 20);
    conf.setNumMapTasks(maps);
    conf.setNumReduceTasks(1);
    conf.set(InstalledReader.HOME, directory.toString());
    ReduceTask task = new ReduceTask("job.xml", REDUCE, 0, maps, 1);
    task.setConf(conf);
    task.setShuffleSecret(new SecretKeySpec(new byte[16], "HmacSHA1"));
    return ReduceContext.of(
        task, conf, master.protocol(), Reporter.NULL, null, new Counters.Counter());
  }

  @Test
  void aFailureOfAThreadEndsTheWaitForMapOutputs() throws Exception {
    IllegalStateException failure = new IllegalStateException("scripted");
    master.failure = failure;
    assertThatThrownBy(shuffle::run)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("sluice-map-events")
        .hasCause(failure);
    assertThat(Factory.isClosed.await(30, TimeUnit.SECONDS)).as("the reader is closed").isTrue();
  }

  @Test
  void theFirstOfSeveralFailuresIsTold() throws Exception {
    IOException first = new IOException("first");
    report(first, "fetcher#1");
    report(new IOException("second"), "fetcher#2");
    assertThatThrownBy(shuffle::run)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fetcher#1")
        .hasCause(first);
  }

  @Test
  void theMergeDoesNotWaitForTheEndOfReads() throws Exception {
    Factory.mayClose = new CountDownLatch(1);
    RdmaShuffle<Text, IntWritable> ofNoMaps = new RdmaShuffle<>();
    ofNoMaps.init(context(0));
    assertThat(ofNoMaps.run().next()).as("a record").isFalse();
    assertThat(Factory.isClosed.getCount()).isOne();
    Factory.mayClose.countDown();
    ofNoMaps.close();
    assertThat(Factory.isClosed.await(30, TimeUnit.SECONDS)).as("the reader is closed").isTrue();
  }

  private void report(Throwable failure, String name) throws InterruptedException {
    Thread thread = new Thread(() -> shuffle.reportException(failure), name);
    thread.start();
    thread.join();
  }

  /** Makes readers of no node. */
  public static final class Factory implements NodeReader.Factory {
    private static volatile CountDownLatch isClosed;
    private static volatile CountDownLatch mayClose;

    @Override
    public NodeReader open(
        String job, String secret, String reader, int partition, Map<String, String> settings) {
      return new NodeReader() {
        @Override
        public List<RemotePartition> locate(String host, long[] mapIds) {
          throw new UnsupportedOperationException("no map output is known");
        }

        @Override
        public InputStream open(List<RemotePartition> wanted) {
          throw new UnsupportedOperationException("no map output is known");
        }

        @Override
        public void close() {
          try {
            mayClose.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          isClosed.countDown();
        }
      };
    }
  }
}
