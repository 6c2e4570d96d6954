package dev.sluice.spark;

import dev.sluice.spark.locate.DirectoryEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.SparkBroadcasts;
import dev.sluice.spark.metrics.ApplicationTotals;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;

/**
 * What the shuffle manager runs on the driver: the location directory, from the first shuffle on,
 * and the application's counters. Needs no RDMA device. Threads that register shuffles and Spark's
 * cleaner call it; the shuffle manager closes it.
 */
final class DriverSide implements AutoCloseable {
  private final ApplicationTotals totals = new ApplicationTotals();
  private LocationDirectory directory;
  private DirectoryEndpoint endpoint;

  ApplicationTotals totals() {
    return totals;
  }

  /** A shuffle is registered: from the first one on executors find the directory. */
  synchronized void open(SparkContext context) {
    if (directory != null) {
      return;
    }
    SparkEnv env = context.env();
    Number minBroadcastBytes =
        (Number) env.conf().get(package$.MODULE$.SHUFFLE_MAPOUTPUT_MIN_SIZE_FOR_BROADCAST());
    directory =
        new LocationDirectory(
            new SparkBroadcasts(env.broadcastManager()),
            minBroadcastBytes.longValue(),
            totals::accept);
    endpoint = DirectoryEndpoint.open(env.rpcEnv(), directory);
    context.addSparkListener(new LostExecutors(directory::executorLost));
  }

  synchronized void unregister(int shuffleId) {
    if (directory != null) {
      directory.unregister(shuffleId);
    }
  }

  @Override
  public synchronized void close() {
    if (endpoint != null) {
      endpoint.close();
    }
  }
}
