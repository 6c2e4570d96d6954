// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MergeManagerImpl;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The fetcher with Hadoop's scheduler and merger, and a reader that the test scripts. */
@Timeout(60)
final class RdmaFetcherTest {
  private static final int MAPS = 200;

  /**
   * Host and port of HTTP: one at which nobody answers, so that what goes by HTTP fails at once.
   */
  private String host = "localhost:1";

  @TempDir private Path directory;

  private final JobConf conf = new JobConf(false);
  private final ScriptedReader reader = new ScriptedReader();
  private final List<Throwable> failures = new ArrayList<>();
  private final Map<String, Integer> expected = new TreeMap<>();
  private final CountingReporter counting = new CountingReporter();
  private final Counters.Counter failedFetches = new Counters.Counter();
  private @Nullable CompressionCodec codec;
  private ShuffleConsumerPlugin.Context<Text, IntWritable> context;
  private ShuffleSchedulerImpl<Text, IntWritable> scheduler;
  private MergeManagerImpl<Text, IntWritable> merger;
  private ShuffleCounters counters;
  private RdmaFetcher<Text, IntWritable> fetcher;

  @BeforeEach
  void configure() {
    conf.set(MRConfig.LOCAL_DIR, directory.toString());
    conf.setMapOutputKeyClass(Text.class);
    conf.setMapOutputValueClass(IntWritable.class);
    conf.set("io.serializations", "org.apache.hadoop.io.serializer.WritableSerialization");
    conf.setLong("mapreduce.reduce.memory.totalbytes", 64 << 20);
    conf.setNumMapTasks(MAPS);
    conf.setInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, 1_000);
    conf.setBoolean(MRJobConfig.SHUFFLE_FETCH_RETRY_ENABLED, false);
  }

  @Test
  void mapOutputsAreReadWhileOthersAreNotLocated() throws Exception {
    start();
    write(MAPS);
    copy();
    assertThat(reader.located).as("requests").containsExactly(32, MAPS - 32);
    assertThat(reader.readBefore).as("map outputs READ before").containsExactly(0, 32);
    assertThat(merged()).isEqualTo(expected);
    assertThat(failures).isEmpty();
  }

  @Test
  void compressedMapOutputsAreCopied() throws Exception {
    DefaultCodec deflate = new DefaultCodec();
    deflate.setConf(conf);
    codec = deflate;
    start();
    write(MAPS);
    copy();
    assertThat(merged()).isEqualTo(expected);
  }

  @Test
  void aLargeMapOutputGoesToDisk() throws Exception {
    conf.setFloat(MRJobConfig.SHUFFLE_MEMORY_LIMIT_PERCENT, 0.000_001f);
    start();
    write(MAPS);
    copy();
    assertThat(merged()).isEqualTo(expected);
    assertThat(reader.opened).isPositive();
  }

  @Test
  void nothingIsReadThatTheMergerHasNoRoomFor() throws Exception {
    conf.setLong("mapreduce.reduce.memory.totalbytes", 4_000);
    conf.setFloat(MRJobConfig.SHUFFLE_MERGE_PERCENT, 0.95f);
    start();
    write(MAPS);
    MapHost host = scheduler.getHost();
    fetcher.copyFromHost(host);
    assertThat(reader.readOutputs).as("map outputs that were READ").isBetween(1, MAPS - 1);
    assertThat(host.getNumKnownMapOutputs()).isEqualTo(MAPS - reader.readOutputs);
    assertThat(failedFetches.getValue()).isZero();
  }

  @Test
  void theNodeIsAskedAgainForMapOutputsThatItDidNotRegisterInTime() throws Exception {
    start();
    write(MAPS);
    reader.failures.put(map(7), HttpReason.STAGING);
    copy();
    assertThat(reader.readOutputs).isEqualTo(MAPS - 1);
    assertThat(failedFetches.getValue()).as("HTTP fetches that nobody answers").isZero();
    reader.failures.clear();
    copy();
    assertThat(merged()).isEqualTo(expected);
  }

  @Test
  void aMapOutputThatIsLateAgainAndAgainGoesByHttp() throws Exception {
    start();
    try (MapOutputServer server = new MapOutputServer(reader.partitions, reader.rawBytes)) {
      host = server.host();
      write(MAPS);
      reader.failures.put(map(7), HttpReason.STAGING);
      for (int visit = 0; visit < 4; visit++) {
        copy();
      }
    }
    counters.report();
    assertThat(counted("HTTP_STAGING")).isEqualTo(1);
    assertThat(merged()).isEqualTo(expected);
  }

  @Test
  void aMapOutputThatTheNodeLacksGoesByHttpAlone() throws Exception {
    start();
    write(MAPS);
    reader.failures.put(map(7), HttpReason.NOT_REGISTERED);
    copy();
    assertThat(reader.readOutputs).isEqualTo(MAPS - 1);
    assertThat(failedFetches.getValue()).as("HTTP fetches that nobody answers").isEqualTo(1);
    assertThat(failures).isEmpty();
    counters.report();
    assertThat(counted("READ_MAP_OUTPUTS")).isEqualTo(MAPS - 1);
    assertThat(counted("HTTP_MAP_OUTPUTS")).as("none came by HTTP").isZero();
    assertThat(counted("HTTP_NOT_REGISTERED")).isZero();
  }

  @Test
  void whatCannotBeReadComesByHttpAndIsCountedByReason() throws Exception {
    start();
    try (MapOutputServer server = new MapOutputServer(reader.partitions, reader.rawBytes)) {
      host = server.host();
      write(MAPS);
      reader.failures.put(map(7), HttpReason.SIZE);
      reader.failures.put(map(8), HttpReason.NOT_REGISTERED);
      copy();
    }
    assertThat(failedFetches.getValue()).isZero();
    counters.report();
    assertThat(counted("READ_MAP_OUTPUTS")).isEqualTo(MAPS - 2);
    assertThat(counted("HTTP_MAP_OUTPUTS")).isEqualTo(2);
    assertThat(counted("HTTP_SIZE")).isEqualTo(1);
    assertThat(counted("HTTP_NOT_REGISTERED")).isEqualTo(1);
    assertThat(counted("HTTP_BYTES"))
        .isEqualTo(reader.partitions.get(map(7)).length + reader.partitions.get(map(8)).length);
    assertThat(merged()).isEqualTo(expected);
  }

  /** ShuffleHandler then answers a request for several map outputs with none. */
  @Test
  void aMapOutputThatIsLostKeepsNoOtherFromComingByHttp() throws Exception {
    start();
    reader.unreachable = true;
    MapHost asked;
    try (MapOutputServer server = new MapOutputServer(reader.partitions, reader.rawBytes)) {
      host = server.host();
      write(MAPS);
      server.lose(map(0));
      asked = scheduler.getHost();
      for (int request = 0; request < 4; request++) { // as after each penalty
        fetcher.copyFromHost(asked);
        asked.markAvailable();
      }
    }
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(MAPS - 1);
    counters.report();
    assertThat(counted("HTTP_PEER")).isEqualTo(MAPS - 1);
  }

  @Test
  void aMapOutputThatAnotherAttemptDeliveredIsNotCounted() throws Exception {
    start();
    write(MAPS);
    TaskAttemptID other = new TaskAttemptID(attempt(5).getTaskID(), 1);
    reader.partitions.put(MapIds.mapId(other), reader.partitions.get(map(5)));
    reader.rawBytes.put(MapIds.mapId(other), reader.rawBytes.get(map(5)));
    scheduler.addKnownMapOutput(host, url(), other);
    copy();
    counters.report();
    assertThat(reader.readOutputs).isEqualTo(MAPS + 1);
    assertThat(counted("READ_MAP_OUTPUTS")).isEqualTo(MAPS);
    assertThat(counted("READ_BYTES")).isEqualTo(context.getReduceShuffleBytes().getValue());
  }

  private long counted(String name) {
    return counting.getCounter(ShuffleCounters.GROUP, name).getValue();
  }

  @Test
  void damagedBytesAreFetchedByHttpAndTheOthersAreRead() throws Exception {
    start();
    write(MAPS);
    reader.partitions.get(map(3))[4] ^= 1;
    MapHost host = scheduler.getHost();
    fetcher.copyFromHost(host);
    assertThat(failedFetches.getValue()).as("HTTP fetches that nobody answers").isEqualTo(1);
    fetcher.copyFromHost(host);
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(MAPS - 1);
    assertThat(failures).isEmpty();
  }

  @Test
  void mapOutputsThatAreNotCopiedReturnTheirDecompressors() throws Exception {
    DefaultCodec deflate = new DefaultCodec();
    deflate.setConf(conf);
    codec = deflate;
    int leased = CodecPool.getLeasedDecompressorsCount(codec);
    start();
    write(MAPS);
    reader.readable = 3;
    copy();
    assertThat(reader.readOutputs).isGreaterThan(3);
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(3);
    assertThat(CodecPool.getLeasedDecompressorsCount(codec)).isEqualTo(leased);
  }

  @Test
  void mapOutputsThatAreNotCopiedCloseTheirFiles() throws Exception {
    conf.setFloat(MRJobConfig.SHUFFLE_MEMORY_LIMIT_PERCENT, 0.000_001f);
    start();
    write(MAPS);
    reader.readable = 3;
    copy();
    assertThat(reader.readOutputs).isGreaterThan(3);
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(3);
    assertThat(openFiles()).isEmpty();
  }

  /** Returns this process's open files in the test's directory, deleted ones included. */
  private List<String> openFiles() throws IOException {
    List<String> open = new ArrayList<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Paths.get("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        try {
          open.add(Files.readSymbolicLink(descriptor).toString());
        } catch (NoSuchFileException e) {
          // It is the one of this list, or was closed meanwhile.
        }
      }
    }
    String own = directory.toRealPath().toString();
    open.removeIf(file -> !file.startsWith(own));
    return open;
  }

  @Test
  void aNodeThatCannotBeAskedIsAskedByHttp() throws Exception {
    start();
    write(MAPS);
    reader.unreachable = true;
    copy();
    assertThat(reader.readOutputs).isZero();
    assertThat(failedFetches.getValue()).isEqualTo(20); // Hadoop's number in one request
  }

  private void start() throws IOException {
    TaskAttemptID reduce = TaskAttemptID.forName("attempt_1700000000000_0012_r_000000_0");
    ReduceTask task = new ReduceTask("job.xml", reduce, 0, MAPS, 1);
    task.setConf(conf);
    task.setShuffleSecret(MapOutputServer.SECRET);
    ExceptionReporter reporter = failures::add;
    context = ReduceContext.of(task, conf, null, counting, codec, failedFetches);
    scheduler =
        new ShuffleSchedulerImpl<>(
            conf,
            context.getStatus(),
            reduce,
            reporter,
            context.getCopyPhase(),
            context.getShuffledMapsCounter(),
            context.getReduceShuffleBytes(),
            failedFetches);
    merger =
        new MergeManagerImpl<>(
            reduce,
            conf,
            context.getLocalFS(),
            context.getLocalDirAllocator(),
            counting,
            codec,
            null,
            null,
            context.getSpilledRecordsCounter(),
            null,
            context.getMergedMapOutputsCounter(),
            reporter,
            context.getMergePhase(),
            context.getMapOutputFile());
    counters = new ShuffleCounters(context);
    fetcher =
        new RdmaFetcher<>(
            context,
            scheduler,
            merger,
            ShuffleClientMetrics.create(reduce, conf),
            reporter,
            reader,
            new HttpOutputs(),
            counters);
  }

  /** Writes map outputs and has the scheduler know them. */
  private void write(int maps) throws IOException {
    for (int map = 0; map < maps; map++) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      FSDataOutputStream out = new FSDataOutputStream(bytes, null);
      IFile.Writer<Text, IntWritable> writer =
          new IFile.Writer<>(conf, out, Text.class, IntWritable.class, codec, null);
      for (int i = 0; i < 10; i++) {
        String key = "map %03d key %d".formatted(map, i);
        writer.append(new Text(key), new IntWritable(i));
        expected.put(key, i);
      }
      writer.close();
      out.close();
      reader.partitions.put(map(map), bytes.toByteArray());
      reader.rawBytes.put(map(map), writer.getRawLength());
      scheduler.addKnownMapOutput(host, url(), attempt(map));
    }
  }

  private String url() {
    return "http://" + host + "/mapOutput?job=job&reduce=0&map=";
  }

  private static TaskAttemptID attempt(int map) {
    return TaskAttemptID.forName("attempt_1700000000000_0012_m_%06d_0".formatted(map));
  }

  private static long map(int map) {
    return MapIds.mapId(attempt(map));
  }

  private void copy() throws Exception {
    MapHost host = scheduler.getHost();
    fetcher.copyFromHost(host);
    scheduler.freeHost(host);
  }

  private Map<String, Integer> merged() throws Exception {
    Map<String, Integer> merged = new TreeMap<>();
    RawKeyValueIterator records;
    try {
      records = merger.close();
    } catch (Throwable e) {
      throw new IOException(e);
    }
    while (records.next()) {
      Text key = new Text();
      key.readFields(records.getKey());
      IntWritable value = new IntWritable();
      value.readFields(records.getValue());
      merged.put(key.toString(), value.get());
    }
    records.close();
    return merged;
  }

  /** A task's reporter. */
  private static final class CountingReporter implements Reporter {
    private final Counters counters = new Counters();

    @Override
    public void setStatus(String status) {}

    @Override
    public Counters.Counter getCounter(Enum<?> name) {
      return counters.findCounter(name);
    }

    @Override
    public Counters.Counter getCounter(String group, String name) {
      return counters.findCounter(group, name);
    }

    @Override
    public void incrCounter(Enum<?> key, long amount) {
      counters.incrCounter(key, amount);
    }

    @Override
    public void incrCounter(String group, String counter, long amount) {
      counters.incrCounter(group, counter, amount);
    }

    @Override
    public InputSplit getInputSplit() {
      throw new UnsupportedOperationException("a reduce task has none");
    }

    @Override
    public float getProgress() {
      return 0;
    }

    @Override
    public void progress() {}
  }

  /** Has partitions in memory. */
  private static final class ScriptedReader implements NodeReader {
    final Map<Long, byte[]> partitions = new HashMap<>();
    final Map<Long, Long> rawBytes = new HashMap<>();
    final Map<Long, HttpReason> failures = new HashMap<>();
    final List<Integer> located = new ArrayList<>();

    /** Number of map outputs that were READ before each request to locate some. */
    final List<Integer> readBefore = new ArrayList<>();

    boolean unreachable;

    /** Number of map outputs after which each stream fails. */
    int readable = Integer.MAX_VALUE;

    int opened;
    int readOutputs;

    private static final class Partition extends RemotePartition {
      Partition(long mapId, long bytes, long rawBytes) {
        super(mapId, bytes, rawBytes);
      }
    }

    @Override
    public List<RemotePartition> locate(String host, long[] mapIds) throws NodeReadException {
      assertThat(host).isEqualTo("localhost");
      if (unreachable) {
        throw new NodeReadException(HttpReason.PEER, "scripted", null);
      }
      located.add(mapIds.length);
      readBefore.add(readOutputs);
      List<RemotePartition> answers = new ArrayList<>();
      for (long mapId : mapIds) {
        answers.add(
            failures.containsKey(mapId)
                ? new RemotePartition(mapId, failures.get(mapId))
                : new Partition(mapId, partitions.get(mapId).length, rawBytes.get(mapId)));
      }
      return answers;
    }

    @Override
    public InputStream open(List<RemotePartition> wanted) {
      opened++;
      readOutputs += wanted.size();
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      wanted.stream().limit(readable).forEach(each -> all.writeBytes(partitions.get(each.mapId())));
      return new SequenceInputStream(
          new ByteArrayInputStream(all.toByteArray()),
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw new NodeReadException(HttpReason.TRANSPORT, "scripted", null);
            }
          });
    }

    @Override
    public void close() {}
  }
}
