// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.doctor.check.JvmDefect;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.spark.RdmaShuffle.BlockRange;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.driver.DriverRuntime;
import dev.sluice.spark.executor.ExecutorEnvironment;
import dev.sluice.spark.executor.FallbackRuntime;
import dev.sluice.spark.executor.LazyRuntime;
import dev.sluice.spark.executor.ReadingRuntime;
import dev.sluice.spark.executor.SluiceRuntime;
import dev.sluice.spark.fetch.PerTask;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.RpcDriverChannel;
import dev.sluice.spark.metrics.MetricsSource;
import dev.sluice.spark.reduce.ExecutorFetching;
import dev.sluice.spark.reduce.RdmaShuffleReader;
import dev.sluice.spark.resolve.ResolverMapOutputFiles;
import dev.sluice.spark.resolve.SluiceBlockResolver;
import dev.sluice.spark.version.ExternalSorters;
import dev.sluice.spark.write.RegisteringShuffleWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.ShutdownHookManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * {@link RdmaShuffle} for a JVM that is new enough and a Spark version that Sluice supports. {@link
 * RdmaShuffle#create} loads it by name, once in each process. Threads of the driver call {@link
 * #register}, tasks' threads get writers and readers, transport threads report migrated map
 * outputs, and threads of the block manager call {@link #unregister}. The shuffle manager closes
 * it. In local mode one object has both sides. It closes the executor's runtime first, because the
 * last report goes to the driver's side.
 */
@SuppressWarnings("this-escape") // Receivers of this reference call it only when tasks run.
public final class SluiceShuffle extends RdmaShuffle {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceShuffle.class);

  /** Ways in which an executor reaches the outside. A fault harness wraps them. */
  public interface ExecutorBackends {
    /** Opens this executor's channel to the location directory. Called once, when tasks run. */
    default DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return new RpcDriverChannel(env.conf(), env.rpcEnv(), conf.locateTimeoutMs());
    }

    /**
     * Returns how long an executor may take to start, in milliseconds. A start probes local
     * directories and devices, which may hang, and asks the driver for up to 10 s by default.
     */
    default long startTimeoutMs() {
      return 40_000;
    }

    /**
     * Opens the device by which this executor READs and serves; the caller closes it. Called once,
     * when tasks run.
     *
     * @param host name by which other executors reach this one
     * @param refused takes the reason why a better provider is not used
     * @throws IOException if no device is available; the message is the reason
     */
    default Device openDevice(SluiceConf conf, String host, Consumer<String> refused)
        throws IOException {
      return Providers.open(
          conf.provider(),
          InetAddress.getByName(host),
          conf.verbsOptions(),
          conf.softOptions(),
          refused);
    }
  }

  private final SparkConf sparkConf;
  private final SluiceBlockResolver resolver;
  private final ExecutorBackends backends;
  private final DriverRuntime driverSide = new DriverRuntime();
  private final LazyRuntime runtime;

  /** Gives tasks the runtime, and tells the runtime once when each of these tasks ends. */
  private final PerTask<SluiceRuntime> runtimes;

  /** Null until the runtime has started. */
  private volatile @Nullable Object summaryHook;

  /** Called by {@link RdmaShuffle#create}, which has the same contract. */
  public SluiceShuffle(SparkConf sparkConf, boolean isDriver, IndexShuffleBlockResolver stock) {
    this(sparkConf, isDriver, stock, new ExecutorBackends() {});
  }

  public SluiceShuffle(
      SparkConf sparkConf,
      boolean isDriver,
      IndexShuffleBlockResolver stock,
      ExecutorBackends backends) {
    ExternalSorters.requireKnown();
    this.sparkConf = sparkConf;
    this.backends = backends;
    this.resolver = new SluiceBlockResolver(sparkConf, stock, this::registry, this::committed);
    this.runtime = new LazyRuntime(new Start(), backends.startTimeoutMs());
    this.runtimes = new PerTask<>(runtime::get, SluiceRuntime::taskEnded);
    JvmDefect.warning(Runtime.version(), JvmDefect.collectorIsG1()).ifPresent(LOG::warn);
    if (isDriver) {
      SluiceConf.announceOverhead(sparkConf);
      checkOnDriver(new SluiceConf(sparkConf));
    }
  }

  /** Checks the configuration before executors start. In local mode also probes the device. */
  private void checkOnDriver(SluiceConf conf) {
    if (conf.isNodeRequired()) {
      requireReads(conf);
    }
    if (conf.offReason().isPresent()) {
      LOG.warn("Shuffle blocks are not READ, because {}", conf.offReason().get());
    } else if (conf.readsForbidden()) {
      LOG.warn(
          "Remote shuffle blocks go by Spark's own transfer, which is encrypted: READs are"
              + " neither encrypted nor authenticated. If the network between executors can be"
              + " trusted, set spark.shuffle.rdma.allowPlaintext=true to READ blocks anyway");
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

  /** Requires that blocks are READ: without READs node daemons would only be in the way. */
  private void requireReads(SluiceConf conf) {
    Optional<String> reason =
        conf.readsForbidden()
            ? Optional.of(
                "Spark encrypts its network, and spark.shuffle.rdma.allowPlaintext is not set")
            : conf.offReason();
    if (reason.isPresent()) {
      throw new IllegalStateException(
          NodeConfiguration.setting(sparkConf) + ", but blocks are not READ: " + reason.get());
    }
  }

  private String unavailable(SluiceConf conf, Throwable cause) {
    String asked =
        conf.isNodeRequired() && !conf.isRequired()
            ? NodeConfiguration.setting(sparkConf)
            : "spark.shuffle.rdma.provider is \"" + conf.provider() + "\"";
    return asked + ", which does not work here: " + cause.getMessage();
  }

  private final class Start implements LazyRuntime.Starter {
    /** Null before the step of {@link #start} that sets it, as the next one; it may have failed. */
    private volatile @Nullable SluiceConf conf;

    private volatile SluiceRuntime.@Nullable Environment environment;

    @Override
    public SluiceRuntime start() throws IOException {
      SluiceConf checked = new SluiceConf(sparkConf);
      conf = checked;
      SparkEnv spark = SparkEnv.get();
      DriverChannel driver = backends.openDriverChannel(spark, checked);
      SluiceRuntime.Environment env =
          ExecutorEnvironment.of(
              spark,
              driver,
              new ResolverMapOutputFiles(
                  spark.conf(),
                  resolver,
                  spark.blockManager().diskBlockManager().localDirsString()));
      environment = env;
      if (checked.isNodeRequired() && !NodeConfiguration.isInEffect(sparkConf)) {
        throw new IOException(
            "the driver has not prepared for it: its shuffle manager does not call"
                + " RdmaShuffle.create");
      }
      if (checked.offReason().isPresent()) {
        return new FallbackRuntime(checked, env, checked.offReason().get());
      }
      if (!driver.hasDirectory()) {
        if (checked.isNodeRequired()) {
          throw new IOException("the driver has no location directory");
        }
        LOG.warn(
            "Shuffle blocks go by Spark's own transfer: the driver has no location directory."
                + " Either it uses the stock shuffle, for a reason that its log names, in most"
                + " cases a JVM that is too old; or its shuffle manager does not call"
                + " RdmaShuffle.register");
        return new FallbackRuntime(checked, env, "the driver has no location directory");
      }
      return new ReadingRuntime(
          checked, env, refused -> backends.openDevice(checked, env.executor().host(), refused));
    }

    @Override
    public SluiceRuntime startWithout(Throwable cause) {
      SluiceConf known = conf;
      if (cause instanceof RegistrationUnavailableException || known == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      if (known.isRequired() || known.isNodeRequired() && !canBeTold()) {
        throw new IllegalStateException(unavailable(known, cause), cause);
      }
      if (environment == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      LOG.warn("Shuffle blocks go by Spark's own transfer, because RDMA cannot be started", cause);
      return new FallbackRuntime(
          known, environment, "RDMA cannot be started: " + cause.getMessage());
    }

    /** Returns true if the driver can be told of map outputs that end with this executor. */
    private boolean canBeTold() {
      return NodeConfiguration.isInEffect(sparkConf)
          && environment != null
          && environment.driver().hasDirectory();
    }

    @Override
    public void started(SluiceRuntime runtime) {
      MetricsSource source = MetricsSource.of(runtime.metrics());
      SparkEnv.get().metricsSystem().registerSource(source);
      runtime.keepFresh(source);
      runtime.describe();
      summaryHook = ShutdownHookManager.addShutdownHook(() -> summarize(runtime));
    }

    /** Logs the reason on the driver, too, where people look first. */
    @Override
    public void failed(Throwable reason) {
      SluiceRuntime.Environment env = environment;
      if (env != null) {
        try {
          env.driver().ask(new Failure(env.executor().id(), String.valueOf(reason.getMessage())));
        } catch (IOException e) {
          LOG.debug("Cannot tell the driver why the shuffle's runtime did not start", e);
        }
      }
    }
  }

  /** Shutdown hook: a worker that ends executors by a signal leaves them no time to stop parts. */
  private static BoxedUnit summarize(SluiceRuntime runtime) {
    runtime.summarize();
    return BoxedUnit.UNIT;
  }

  /** Returns the registry; empty as long as nothing can be registered. */
  private Optional<MapOutputRegistry> registry() {
    return runtime
        .ifStarted()
        .filter(ReadingRuntime.class::isInstance)
        .map(started -> ((ReadingRuntime) started).registry());
  }

  /** Registers a map output that has migrated to here, perhaps before a task has run here. */
  private void committed(int shuffleId, long mapId) throws IOException {
    Optional<SluiceRuntime> started = runtime.ifStarted();
    if (started.isPresent()) {
      started.get().committed(shuffleId, mapId);
    } else { // The caller is a thread of Spark's transport and must not wait.
      runtime.begin().thenAccept(later -> committed(later, shuffleId, mapId));
    }
  }

  private static void committed(SluiceRuntime runtime, int shuffleId, long mapId) {
    try {
      runtime.committed(shuffleId, mapId);
    } catch (IOException e) {
      LOG.warn(
          "Map output {} of shuffle {} has migrated here, but registering or handing it over"
              + " failed",
          mapId,
          shuffleId,
          e);
    }
  }

  @Override
  public void register(SparkContext context) {
    driverSide.open(context);
  }

  /**
   * Returns the objects by which a task fetches. A job of an application that READs may have turned
   * READs off by the local property of the provider's name: {@code SparkContext.setLocalProperty}
   * for jobs of RDDs, {@code SET} for queries. Spark gives a query's jobs all settings of its
   * session as local properties, which replace the caller's.
   */
  private ExecutorFetching fetching(TaskContext context) {
    SluiceRuntime started = runtimes.of(context);
    return OFF.equalsIgnoreCase(context.getLocalProperty(PROVIDER))
        ? started.withoutReads()
        : started.reading();
  }

  @Override
  public IndexShuffleBlockResolver resolver() {
    return resolver;
  }

  @Override
  public <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context) {
    SluiceRuntime started = runtime(writer, context);
    return new RegisteringShuffleWriter<>(
        writer, shuffleId, context, started.writers(), () -> started.committed(shuffleId, mapId));
  }

  /** Returns the task's runtime. Stops the writer if there is none: Spark does not get it then. */
  private SluiceRuntime runtime(ShuffleWriter<?, ?> writer, TaskContext context) {
    try {
      SluiceRuntime started = runtimes.of(context);
      started.aboutToWrite();
      return started;
    } catch (RuntimeException e) {
      writer.stop(false);
      throw e;
    }
  }

  @Override
  public BlockStoreClient client(TaskContext context) {
    return fetching(context).client();
  }

  @Override
  <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stock) {
    ExecutorFetching reading = fetching(context);
    // Fetches locations while the task waits for the driver to list its blocks.
    reading.client().prepare(handle.shuffleId());
    MapOutputs outputs = mapOutputs(handle, blocks);
    return new RdmaShuffleReader<>(
        handle,
        outputs.blocks(),
        context,
        metrics,
        outputs.batchFetch()
            && SortShuffleManager.canUseBatchFetch(
                blocks.startPartition(), blocks.endPartition(), context),
        reading);
  }

  /** A reduce task's blocks, as the map output tracker lists them. */
  private record MapOutputs(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      boolean batchFetch) {}

  private static MapOutputs mapOutputs(BaseShuffleHandle<?, ?, ?> handle, BlockRange blocks) {
    MapOutputTracker tracker = SparkEnv.get().mapOutputTracker();
    if (!handle.dependency().isShuffleMergeFinalizedMarked()) {
      return new MapOutputs(
          tracker.getMapSizesByExecutorId(
              handle.shuffleId(),
              blocks.startMapIndex(),
              blocks.endMapIndex(),
              blocks.startPartition(),
              blocks.endPartition()),
          true);
    }
    var merged =
        tracker.getPushBasedShuffleMapSizesByExecutorId(
            handle.shuffleId(),
            blocks.startMapIndex(),
            blocks.endMapIndex(),
            blocks.startPartition(),
            blocks.endPartition());
    return new MapOutputs(merged.iter(), merged.enableBatchFetch());
  }

  @Override
  public void unregister(int shuffleId) {
    runtime.ifStarted().ifPresent(started -> started.unregister(shuffleId));
    driverSide.unregister(shuffleId);
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
  public void close() {
    runtime.close();
    if (summaryHook != null) {
      ShutdownHookManager.removeShutdownHook(summaryHook);
    }
    driverSide.close();
  }
}
