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
import dev.sluice.spark.read.ExecutorReading;
import dev.sluice.spark.write.RegisteringShuffleWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.util.ShutdownHookManager;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.runtime.BoxedUnit;

/**
 * RDMA for a shuffle manager that writes Spark's files, its own or another's: map outputs that are
 * registered and served, and a client that READs blocks. {@link RdmaShuffleManager} is built on it;
 * a manager that has its own writers or readers makes one in its constructor and passes on what
 * Spark tells it:
 *
 * <pre>
 *   rdma = RdmaShuffle.create(conf, isDriver, super.shuffleBlockResolver());
 *   registerShuffle       rdma.register(dependency.rdd().sparkContext())
 *   getWriter             rdma.registering(writer, shuffleId, mapId, context)
 *   getReader             a reader whose blocks come by rdma.client(context)
 *   shuffleBlockResolver  rdma.resolver()
 *   unregisterShuffle     rdma.unregister(shuffleId), before the files go
 *   stop                  rdma.close()
 * </pre>
 *
 * <p>The public methods stay as they are within a major version of Sluice. Configured by {@code
 * spark.shuffle.rdma.*}; needs Java 25 and a Spark of {@code docs/spark-versions.md}. Any thread;
 * one object in a driver, one in each executor, and one for both in local mode.
 */
public final class RdmaShuffle implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffle.class);

  /** What an executor reaches the outside by; a fault harness puts its own in front. */
  interface Outside {
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
    default Device openDevice(SluiceConf conf, String executorId, String host) throws IOException {
      return Providers.open(
          conf.provider(),
          InetAddress.getByName(host),
          conf.verbsOptions(executorId),
          conf.softOptions());
    }
  }

  private final SparkConf sparkConf;
  private final SluiceBlockResolver resolver;
  private final Outside outside;
  private final DriverSide driverSide = new DriverSide();
  private final LazyRuntime runtime;
  private volatile Object summaryHook;

  RdmaShuffle(
      SparkConf sparkConf, boolean isDriver, IndexShuffleBlockResolver stock, Outside outside) {
    this.sparkConf = sparkConf;
    this.outside = outside;
    this.resolver = new SluiceBlockResolver(sparkConf, stock, this::registry);
    this.runtime = new LazyRuntime(new Start(), outside.startTimeoutMs());
    JvmDefect.warn();
    if (isDriver) {
      checkOnDriver(new SluiceConf(sparkConf));
    }
  }

  /**
   * For a shuffle manager's constructor: only looks at the configuration, for Spark has no block
   * manager yet.
   *
   * @param stock resolver of the {@code SortShuffleManager}, which knows what tasks write
   * @throws IllegalArgumentException on the driver, for a configuration that is not valid
   * @throws IllegalStateException on the driver, where a provider is asked for by name that cannot
   *     be had; on an executor the tasks fail with the reason
   */
  public static RdmaShuffle create(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock) {
    return new RdmaShuffle(conf, isDriver, stock, new Outside() {});
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

  private static String unavailable(SluiceConf conf, Throwable cause) {
    return "spark.shuffle.rdma.provider is \""
        + conf.provider()
        + "\", which does not work here: "
        + cause.getMessage();
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
          ExecutorEnvironment.of(spark, driver, new ResolverMapOutputFiles(spark.conf(), resolver));
      environment = env;
      if (checked.offReason() != null) {
        return SluiceRuntime.off(env);
      }
      if (!driver.hasDirectory()) {
        LOG.warn(
            "Shuffle blocks go by Spark's own transfer, because the driver has the stock shuffle:"
                + " its log says why, mostly that its JVM is too old");
        return SluiceRuntime.off(env);
      }
      return SluiceRuntime.start(
          checked, env, () -> outside.openDevice(checked, env.executorId(), env.host()));
    }

    @Override
    public SluiceRuntime startWithout(Throwable cause) {
      SluiceConf known = conf;
      if (cause instanceof RegistrationUnavailableException || known == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      if (known.isRequired()) {
        throw new IllegalStateException(unavailable(known, cause), cause);
      }
      if (environment == null) {
        throw new IllegalStateException(cause.getMessage(), cause);
      }
      LOG.warn("Shuffle blocks go by Spark's own transfer, because RDMA cannot be started", cause);
      return SluiceRuntime.off(environment);
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
          env.driver().ask(new Failure(env.executorId(), reason.getMessage()));
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

  /** Null as long as nothing can be registered. */
  private MapOutputRegistry registry() {
    SluiceRuntime started = runtime.ifStarted();
    return started == null ? null : started.registry();
  }

  /** The executor's runtime, which hears of the task's end. */
  private SluiceRuntime runtime(TaskContext context) {
    SluiceRuntime started = runtime.get();
    TaskCompletionListener ended = _ -> started.taskEnded();
    context.addTaskCompletionListener(ended);
    return started;
  }

  /** On the driver, for each shuffle: from the first one on executors find the directory. */
  public void register(SparkContext context) {
    driverSide.open(context);
  }

  /**
   * What finds blocks of map outputs, registered or not, and serves them to Spark's own transfer:
   * Spark's own resolver otherwise.
   */
  public IndexShuffleBlockResolver resolver() {
    return resolver;
  }

  /**
   * A map task's writer, after whose commit the map output is registered and published. It has to
   * commit Spark's files: a data file and an index file, by {@code
   * IndexShuffleBlockResolver#writeMetadataFileAndCommit}. Registering never fails the task.
   *
   * @throws IllegalStateException where a provider is asked for by name that cannot be had
   */
  public <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context) {
    SluiceRuntime started = runtime(writer, context);
    return new RegisteringShuffleWriter<>(
        writer, shuffleId, context, started.writers(), () -> started.committed(shuffleId, mapId));
  }

  /** Spark, which is not given the writer where there is no runtime, cannot stop it. */
  private SluiceRuntime runtime(ShuffleWriter<?, ?> writer, TaskContext context) {
    try {
      return runtime(context);
    } catch (RuntimeException e) {
      writer.stop(false);
      throw e;
    }
  }

  /**
   * What fetches blocks for a reduce task: by READ where that goes, by Spark's own transfer
   * otherwise; for Spark's {@code ShuffleBlockFetcherIterator} or a reader of one's own. The
   * executor's, which nobody closes.
   *
   * @throws IllegalStateException where a provider is asked for by name that cannot be had
   */
  public BlockStoreClient client(TaskContext context) {
    return reading(context).client();
  }

  /** As {@link #client}, with what else a reader of ours needs. */
  ExecutorReading reading(TaskContext context) {
    return runtime(context).reading();
  }

  /** A shuffle is over, on the driver or an executor: to be called before its files are deleted. */
  public void unregister(int shuffleId) {
    SluiceRuntime started = runtime.ifStarted();
    if (started != null) {
      started.unregister(shuffleId);
    }
    driverSide.unregister(shuffleId);
  }

  /** As {@link RdmaShuffleManager#totals}. */
  public Map<String, Long> totals() {
    return driverSide.totals().totals();
  }

  /** As {@link RdmaShuffleManager#devices}. */
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
