package dev.sluice.spark;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationUnavailableException;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.RpcDriverChannel;
import dev.sluice.spark.metrics.MetricsSource;
import dev.sluice.spark.reduce.ExecutorReading;
import dev.sluice.spark.reduce.RdmaShuffleReader;
import dev.sluice.spark.resolve.ResolverMapOutputFiles;
import dev.sluice.spark.resolve.SluiceBlockResolver;
import dev.sluice.spark.version.ExternalSorters;
import dev.sluice.spark.version.JvmDefect;
import dev.sluice.spark.write.RegisteringShuffleWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
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
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * {@link RdmaShuffle} on a JVM that is new enough, with a Spark that it was made for. Loaded by
 * name.
 */
@SuppressWarnings("this-escape") // What it hands out of itself is not called before tasks run.
public final class SluiceShuffle extends RdmaShuffle {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceShuffle.class);

  /** What an executor reaches the outside by; a fault harness puts its own in front. */
  public interface Outside {
    /** How this executor asks the driver's location directory. Called once, when tasks run. */
    default DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return new RpcDriverChannel(env.conf(), env.rpcEnv(), conf.locateTimeoutMs());
    }

    /** How long an executor may take to start, in milliseconds. */
    default long startTimeoutMs() {
      return 40_000;
    }

    /**
     * What this executor READs by and serves with, which the caller closes. Called once, when tasks
     * run.
     *
     * @param host by which other executors reach this one
     * @throws IOException when there is none, with the reason
     */
    default Device openDevice(SluiceConf conf, String host) throws IOException {
      return Providers.open(
          conf.provider(), InetAddress.getByName(host), conf.verbsOptions(), conf.softOptions());
    }
  }

  private final SparkConf sparkConf;
  private final SluiceBlockResolver resolver;
  private final Outside outside;
  private final DriverSide driverSide = new DriverSide();
  private final LazyRuntime runtime;
  private volatile Object summaryHook;

  /** As {@link RdmaShuffle#create}, which calls it. */
  public SluiceShuffle(SparkConf sparkConf, boolean isDriver, IndexShuffleBlockResolver stock) {
    this(sparkConf, isDriver, stock, new Outside() {});
  }

  public SluiceShuffle(
      SparkConf sparkConf, boolean isDriver, IndexShuffleBlockResolver stock, Outside outside) {
    ExternalSorters.requireKnown();
    this.sparkConf = sparkConf;
    this.outside = outside;
    this.resolver = new SluiceBlockResolver(sparkConf, stock, this::registry, this::committed);
    this.runtime = new LazyRuntime(new Start(), outside.startTimeoutMs());
    JvmDefect.warn();
    if (isDriver) {
      checkOnDriver(new SluiceConf(sparkConf));
    }
  }

  /** Before executors start; where the driver is the executor, its device is tried, too. */
  private void checkOnDriver(SluiceConf conf) {
    if (conf.isNodeRequired()) {
      requireReads(conf);
    }
    if (conf.offReason().isPresent()) {
      LOG.warn("Shuffle blocks are not READ, because {}", conf.offReason().get());
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

  /** What is handed over is to be READ: the nodes' block servers would only be in the way. */
  private static void requireReads(SluiceConf conf) {
    Optional<String> reason =
        conf.readsForbidden()
            ? Optional.of("Spark encrypts its network, and READs are not allowed in the clear")
            : conf.offReason();
    if (reason.isPresent()) {
      throw new IllegalStateException(
          NodeConfiguration.NODE + " is \"required\", but blocks are not READ: " + reason.get());
    }
  }

  private static String unavailable(SluiceConf conf, Throwable cause) {
    String asked =
        conf.isNodeRequired()
            ? NodeConfiguration.NODE + " is \"required\""
            : "spark.shuffle.rdma.provider is \"" + conf.provider() + "\"";
    return asked + ", which does not work here: " + cause.getMessage();
  }

  private final class Start implements LazyRuntime.Starter {
    private volatile SluiceConf conf;
    private volatile SluiceRuntime.Environment environment;

    @Override
    public SluiceRuntime start() throws IOException {
      SluiceConf checked = new SluiceConf(sparkConf);
      conf = checked;
      SparkEnv spark = SparkEnv.get();
      DriverChannel driver = outside.openDriverChannel(spark, checked);
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
            "the driver does not know of it: its shuffle manager does not call RdmaShuffle.create");
      }
      if (checked.offReason().isPresent()) {
        return new CountingRuntime(env);
      }
      if (!driver.hasDirectory()) {
        if (checked.isNodeRequired()) {
          throw new IOException("the driver has no location directory");
        }
        LOG.warn(
            "Shuffle blocks go by Spark's own transfer: the driver has no location directory. Either"
                + " it has the stock shuffle, and its log says why, mostly that its JVM is too old;"
                + " or its shuffle manager does not call RdmaShuffle.register");
        return new CountingRuntime(env);
      }
      return new ReadingRuntime(
          checked, env, () -> outside.openDevice(checked, env.executor().host()));
    }

    @Override
    public SluiceRuntime startWithout(Throwable cause) {
      SluiceConf known = conf;
      if (cause instanceof RegistrationUnavailableException || known == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      if (known.isRequired() || known.isNodeRequired()) {
        throw new IllegalStateException(unavailable(known, cause), cause);
      }
      if (environment == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      LOG.warn("Shuffle blocks go by Spark's own transfer, because RDMA cannot be started", cause);
      return new CountingRuntime(environment);
    }

    @Override
    public void started(SluiceRuntime runtime) {
      SparkEnv.get().metricsSystem().registerSource(new MetricsSource(runtime.metrics()));
      summaryHook = ShutdownHookManager.addShutdownHook(() -> summarize(runtime));
    }

    /** Says it on the driver, too, where people look first. */
    @Override
    public void failed(Throwable reason) {
      SluiceRuntime.Environment env = environment;
      if (env != null) {
        try {
          env.driver().ask(new Failure(env.executor().id(), reason.getMessage()));
        } catch (IOException e) {
          LOG.debug("The driver does not hear why nothing starts here", e);
        }
      }
    }
  }

  /** A worker that ends its executors by a signal leaves them no time to stop their parts. */
  private static BoxedUnit summarize(SluiceRuntime runtime) {
    runtime.summarize();
    return BoxedUnit.UNIT;
  }

  /** None as long as nothing can be registered. */
  private Optional<MapOutputRegistry> registry() {
    return runtime
        .ifStarted()
        .filter(ReadingRuntime.class::isInstance)
        .map(started -> ((ReadingRuntime) started).registry());
  }

  /** Of a map output that has migrated to here, where perhaps no task has run yet. */
  private void committed(int shuffleId, long mapId) throws IOException {
    Optional<SluiceRuntime> started = runtime.ifStarted();
    if (started.isPresent()) {
      started.get().committed(shuffleId, mapId);
    } else { // The caller is a thread of the transport's.
      runtime.begin().thenAccept(later -> committed(later, shuffleId, mapId));
    }
  }

  private static void committed(SluiceRuntime runtime, int shuffleId, long mapId) {
    try {
      runtime.committed(shuffleId, mapId);
    } catch (IOException e) {
      LOG.warn("Map output {} of shuffle {} stays at this executor", mapId, shuffleId, e);
    }
  }

  /** The executor's runtime, which hears of the task's end. */
  private SluiceRuntime runtime(TaskContext context) {
    SluiceRuntime started = runtime.get();
    TaskCompletionListener ended = _ -> started.taskEnded();
    context.addTaskCompletionListener(ended);
    return started;
  }

  @Override
  public void register(SparkContext context) {
    driverSide.open(context);
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

  /** Spark, which is not given the writer where there is no runtime, cannot stop it. */
  private SluiceRuntime runtime(ShuffleWriter<?, ?> writer, TaskContext context) {
    try {
      SluiceRuntime started = runtime(context);
      started.aboutToWrite();
      return started;
    } catch (RuntimeException e) {
      writer.stop(false);
      throw e;
    }
  }

  @Override
  public BlockStoreClient client(TaskContext context) {
    return runtime(context).reading().client();
  }

  @Override
  <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stock) {
    ExecutorReading reading = runtime(context).reading();
    // While the task asks the driver which blocks there are, and waits for that.
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

  /** What the map output tracker says about a reduce task's blocks. */
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
