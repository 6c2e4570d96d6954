package dev.sluice.spark;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationUnavailableException;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.RpcDriverChannel;
import dev.sluice.spark.metrics.MetricsSource;
import dev.sluice.spark.read.RdmaShuffleReader;
import dev.sluice.spark.write.RegisteringShuffleWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.ShutdownHookManager;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * What {@link RdmaShuffleManager}, whose comment tells the whole, is on a JVM that is new enough.
 * Its constructor only looks at the configuration: Spark calls it before the block manager is
 * there. In local mode one instance is driver and executor.
 *
 * <p>What an executor reaches the outside by, {@link #openDevice} and {@link #openDriverChannel},
 * may be replaced by a subclass: a fault harness puts its own in front.
 */
@SuppressWarnings("this-escape") // What it hands out of itself is not called before tasks run.
public class SluiceShuffleManager extends SortShuffleManager implements RdmaShuffleManager.Counted {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceShuffleManager.class);

  private final SparkConf sparkConf;
  private final SluiceBlockResolver resolver;
  private final DriverSide driverSide = new DriverSide();
  private final LazyRuntime runtime = new LazyRuntime(this::startRuntime);
  private volatile Object summaryHook;

  /**
   * Called by {@link RdmaShuffleManager}. On an executor nothing is thrown: it would be launched
   * again and again. What is wrong there ends the tasks, and so the application.
   */
  public SluiceShuffleManager(SparkConf sparkConf, boolean isDriver) {
    super(sparkConf);
    this.sparkConf = sparkConf;
    this.resolver =
        new SluiceBlockResolver(sparkConf, super.shuffleBlockResolver(), this::registry);
    JvmDefect.warn();
    if (isDriver) {
      checkOnDriver(new SluiceConf(sparkConf));
    }
  }

  /** Before executors start; where the driver is the executor, its device is tried, too. */
  private void checkOnDriver(SluiceConf conf) {
    if (conf.offReason() != null) {
      LOG.warn("Shuffle blocks are not READ, because {}", conf.offReason());
    } else if (conf.readsForbidden()) {
      LOG.warn(
          "Remote shuffle blocks go by Spark's own transfer, which is encrypted: READs are neither"
              + " encrypted nor authenticated. Where the network between executors can be trusted,"
              + " spark.shuffle.rdma.allowPlaintext=true has blocks READ all the same");
    }
    boolean local = sparkConf.get("spark.master", "").matches("local(\\[.*])?");
    if (local && conf.isRequired()) {
      try {
        Providers.open(
                conf.provider(),
                InetAddress.getLoopbackAddress(),
                conf.verbsOptions(),
                SoftOptions.DEFAULT)
            .close();
      } catch (IOException e) {
        throw new IllegalStateException(unavailable(conf, e), e);
      }
    }
  }

  private static String unavailable(SluiceConf conf, Exception cause) {
    return "spark.shuffle.rdma.provider is \""
        + conf.provider()
        + "\", which does not work here: "
        + cause.getMessage();
  }

  private SluiceRuntime startRuntime() throws IOException {
    SluiceConf conf = new SluiceConf(sparkConf);
    SparkEnv env = SparkEnv.get();
    DriverChannel driver = openDriverChannel(env, conf);
    SluiceRuntime.Environment environment =
        ExecutorEnvironment.of(env, driver, new ResolverMapOutputFiles(env.conf(), resolver));
    SluiceRuntime started =
        conf.offReason() == null ? startReading(conf, environment) : SluiceRuntime.off(environment);
    env.metricsSystem().registerSource(new MetricsSource(started.metrics()));
    summaryHook = ShutdownHookManager.addShutdownHook(() -> summarize(started));
    return started;
  }

  /** How this executor asks the driver's location directory. Called once, when tasks run. */
  protected DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
    return new RpcDriverChannel(env.conf(), env.rpcEnv(), conf.locateTimeoutMs());
  }

  /**
   * What this executor READs by and serves with, which the caller closes. Called once, when tasks
   * run.
   *
   * @param host by which other executors reach this one
   * @throws IOException when there is none, with the reason
   */
  protected Device openDevice(SluiceConf conf, String executorId, String host) throws IOException {
    return Providers.open(
        conf.provider(),
        InetAddress.getByName(host),
        conf.verbsOptions(executorId),
        conf.softOptions());
  }

  private SluiceRuntime startReading(SluiceConf conf, SluiceRuntime.Environment env)
      throws IOException {
    try {
      return SluiceRuntime.start(conf, env, () -> openDevice(conf, env.executorId(), env.host()));
    } catch (RegistrationUnavailableException e) {
      throw failure(env, e.getMessage(), e);
    } catch (IOException | RuntimeException e) {
      if (conf.isRequired()) {
        throw failure(env, unavailable(conf, e), e);
      }
      LOG.warn("Shuffle blocks go by Spark's own transfer, because RDMA cannot be started", e);
      return SluiceRuntime.off(env);
    }
  }

  /** Says it on the driver, too, where people look first. */
  private static IllegalStateException failure(
      SluiceRuntime.Environment env, String reason, Exception cause) {
    IllegalStateException failure = new IllegalStateException(reason, cause);
    try {
      env.driver().ask(new Failure(env.executorId(), reason));
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** A worker that ends its executors by a signal leaves them no time to stop their parts. */
  private static BoxedUnit summarize(SluiceRuntime runtime) {
    runtime.summarize();
    return BoxedUnit.UNIT;
  }

  /** Null as long as nothing can be registered. */
  private MapOutputRegistry registry() {
    SluiceRuntime started = runtime.ifStarted();
    return started == null ? null : started.registry();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    driverSide.open(dependency.rdd().sparkContext());
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    SluiceRuntime started = runtime(context);
    return new RegisteringShuffleWriter<>(
        super.getWriter(handle, mapId, context, metrics),
        handle.shuffleId(),
        context,
        started.writers(),
        () -> started.committed(handle.shuffleId(), mapId));
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    SluiceRuntime started = runtime(context);
    @SuppressWarnings("unchecked")
    BaseShuffleHandle<K, ?, C> shuffle = (BaseShuffleHandle<K, ?, C>) handle;
    // While the task asks the driver which blocks there are, and waits for that.
    started.reading().client().prepare(handle.shuffleId());
    MapOutputs outputs =
        mapOutputs(shuffle, startMapIndex, endMapIndex, startPartition, endPartition);
    return new RdmaShuffleReader<>(
        shuffle,
        outputs.byAddress(),
        context,
        metrics,
        outputs.batchFetch()
            && SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context),
        started.reading());
  }

  /** What the map output tracker says about a reduce task's blocks. */
  private record MapOutputs(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> byAddress,
      boolean batchFetch) {}

  private static MapOutputs mapOutputs(
      BaseShuffleHandle<?, ?, ?> handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition) {
    MapOutputTracker tracker = SparkEnv.get().mapOutputTracker();
    int id = handle.shuffleId();
    if (!handle.dependency().isShuffleMergeFinalizedMarked()) {
      return new MapOutputs(
          tracker.getMapSizesByExecutorId(
              id, startMapIndex, endMapIndex, startPartition, endPartition),
          true);
    }
    var merged =
        tracker.getPushBasedShuffleMapSizesByExecutorId(
            id, startMapIndex, endMapIndex, startPartition, endPartition);
    return new MapOutputs(merged.iter(), merged.enableBatchFetch());
  }

  /** The executor's runtime, which hears of the task's end. */
  private SluiceRuntime runtime(TaskContext context) {
    SluiceRuntime started = runtime.get();
    TaskCompletionListener ended = _ -> started.taskEnded();
    context.addTaskCompletionListener(ended);
    return started;
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    // Regions go before their files.
    SluiceRuntime started = runtime.ifStarted();
    if (started != null) {
      started.unregister(shuffleId);
    }
    driverSide.unregister(shuffleId);
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return resolver;
  }

  @Override
  public Map<String, Long> totals() {
    return driverSide.totals().totals();
  }

  @Override
  public Map<String, String> devices() {
    return driverSide.totals().devices();
  }

  @Override
  public void stop() {
    runtime.close();
    if (summaryHook != null) {
      ShutdownHookManager.removeShutdownHook(summaryHook);
    }
    driverSide.close();
    super.stop();
  }
}
