// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.deploy.ExternalShuffleService;
import org.apache.spark.deploy.master.Master$;
import org.apache.spark.deploy.worker.Worker$;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A standalone cluster of two hosts with two things that otherwise only YARN has: a shuffle service
 * that merges pushed blocks, on the first host, and a driver that knows it. Spark finds this class
 * by {@link #MASTER}, and uses it on one thread.
 */
public final class MergingCluster implements ExternalClusterManager {
  /** Two executors of one core. */
  static final String MASTER = "merging-cluster";

  /** Names of this machine, so that an executor does not take the other's files for its own. */
  private static final List<String> HOSTS = List.of("127.0.0.1", "127.0.0.2");

  private static final int MEMORY_MB = 1024;

  /** BlockManagerId.SHUFFLE_MERGER_IDENTIFIER, which Java cannot see. */
  private static final String MERGER = "shuffle-push-merger";

  @Override
  public boolean canCreate(String master) {
    return master.equals(MASTER);
  }

  @Override
  public TaskScheduler createTaskScheduler(SparkContext context, String master) {
    return new TaskSchedulerImpl(context);
  }

  @Override
  public SchedulerBackend createSchedulerBackend(
      SparkContext context, String master, TaskScheduler scheduler) {
    return new Backend((TaskSchedulerImpl) scheduler, context, new Processes(context.conf()));
  }

  @Override
  public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
    ((TaskSchedulerImpl) scheduler).initialize(backend);
  }

  private static final class Backend extends StandaloneSchedulerBackend {
    private final Processes processes;
    private final BlockManagerId merger;

    Backend(TaskSchedulerImpl scheduler, SparkContext context, Processes processes) {
      super(scheduler, context, new String[] {processes.master()});
      this.processes = processes;
      int port = context.conf().getInt("spark.shuffle.service.port", 0);
      this.merger = BlockManagerId.apply(MERGER, HOSTS.getFirst(), port, Option.empty());
    }

    @Override
    public Seq<BlockManagerId> getShufflePushMergerLocations(int partitions, int profile) {
      return CollectionConverters.asScala(List.of(merger)).toSeq();
    }

    @Override
    public void stop() {
      super.stop();
      processes.stop();
    }
  }

  /** The Master, the Workers and the service, in this JVM. */
  private static final class Processes {
    private final MergingService service;
    private final List<RpcEnv> environments = new ArrayList<>();

    Processes(SparkConf conf) {
      service = new MergingService(conf);
      service.start();
      SparkConf plain = conf.clone().set("spark.shuffle.service.enabled", "false");
      environments.add(Master$.MODULE$.startRpcEnvAndEndpoint(HOSTS.getFirst(), 0, 0, plain)._1());
      for (int i = 0; i < HOSTS.size(); i++) {
        environments.add(
            Worker$.MODULE$.startRpcEnvAndEndpoint(
                HOSTS.get(i),
                0,
                0,
                1,
                MEMORY_MB,
                new String[] {master()},
                null,
                Option.apply(i),
                plain,
                Option.empty()));
      }
    }

    String master() {
      return environments.getFirst().address().toSparkURL();
    }

    void stop() {
      environments.reversed().forEach(RpcEnv::shutdown);
      environments.forEach(RpcEnv::awaitTermination);
      service.stop();
    }
  }

  /** The service as in a YARN NodeManager. */
  private static final class MergingService extends ExternalShuffleService {
    MergingService(SparkConf conf) {
      super(conf, new SecurityManager(conf, Option.empty(), package$.MODULE$.AUTH_SECRET_FILE()));
    }

    @Override
    public ExternalBlockHandler newShuffleBlockHandler(TransportConf conf) {
      try {
        return new ExternalBlockHandler(conf, null, new RemoteBlockPushResolver(conf, null));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
