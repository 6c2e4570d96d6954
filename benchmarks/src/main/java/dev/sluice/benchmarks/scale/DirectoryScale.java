package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.spark.locate.SparkBroadcasts;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.broadcast.BroadcastManager;

/**
 * What grows with map outputs at the driver and at those who ask it, beside Spark's own table of
 * map outputs, which is there in either case: Sluice's comes on top.
 *
 * <p>Messages take the way of the codec, but no network: their bytes are counted, and what a socket
 * costs is the same for both. Times are CPU times of the thread that does it all.
 */
record DirectoryScale(int executors, int maps, int partitions, int rounds) {
  private static final String SPARK = "MapOutputTracker";
  private static final int WITHOUT_BROADCAST = Integer.MAX_VALUE;

  /** spark.shuffle.mapOutput.minSizeForBroadcast, as it is by default. */
  private static final int MIN_BROADCAST_BYTES = 512 << 10;

  /**
   * @param share of executors and map outputs that the partner of the growth has, one in so many
   */
  void measure(int share, Pairs pairs) throws Exception {
    SparkConf conf = new SparkConf().setMaster("local[1]").setAppName("scale");
    conf.set("spark.ui.enabled", "false").set("spark.driver.host", "localhost");
    SparkContext context = new SparkContext(conf);
    try {
      DirectoryScale few =
          new DirectoryScale(Math.max(1, executors / share), maps / share, partitions, rounds);
      few.compare(context, new Pairs());
      for (int round = -1; round < rounds; round++) {
        Pairs counted = round < 0 ? new Pairs() : pairs;
        compare(context, counted);
        grow(few, context.env().broadcastManager(), counted);
      }
    } finally {
      context.stop();
    }
  }

  private String name() {
    return "scale-maps-" + maps + "-";
  }

  private void compare(SparkContext context, Pairs pairs) throws Exception {
    BroadcastManager manager = context.env().broadcastManager();
    MapTable ours = sluice(manager, false, WITHOUT_BROADCAST);
    MapTable theirs = spark(context, WITHOUT_BROADCAST);
    double[] heap = new double[2];
    double[] publish = {publish(ours, heap, 0), publish(theirs, heap, 1)};
    less("driver-heap", "B/map", heap[0] / maps, heap[1] / maps, pairs);
    MapTable oneByOne = sluice(manager, true, WITHOUT_BROADCAST);
    double[] oneByOneHeap = new double[1];
    publish(oneByOne, oneByOneHeap, 0);
    less("one-by-one-driver-heap", "B/map", oneByOneHeap[0] / maps, heap[1] / maps, pairs);
    less("publish", "us/map", publish[0] / maps, publish[1] / maps, pairs);

    MapTable.Fetched fetched = ours.fetch();
    MapTable.Fetched tracked = theirs.fetch();
    less("fetch", "ms", fetched.nanos() / 1e6, tracked.nanos() / 1e6, pairs);
    have("", fetched, tracked, pairs);
    have("one-by-one-", oneByOne.fetch(), tracked, pairs);
    serve("", ours, theirs, pairs);

    MapTable oursShipped = sluice(manager, false, MIN_BROADCAST_BYTES);
    MapTable theirsShipped = spark(context, MIN_BROADCAST_BYTES);
    oursShipped.publish();
    theirsShipped.publish();
    serve("broadcast-", oursShipped, theirsShipped, pairs);
  }

  /** What an executor that has fetched the table has got. */
  private void have(String how, MapTable.Fetched ours, MapTable.Fetched theirs, Pairs pairs) {
    less(
        how + "table-bytes",
        "B/map",
        (double) ours.bytes() / maps,
        (double) theirs.bytes() / maps,
        pairs);
    less(
        how + "executor-heap",
        "B/map",
        (double) ours.heapBytes() / maps,
        (double) theirs.heapBytes() / maps,
        pairs);
  }

  /** Microseconds of CPU. */
  private static double publish(MapTable table, double[] heap, int at) throws Exception {
    double[] micros = new double[1];
    heap[at] =
        Heap.retainedBytes(
            () -> {
              micros[0] = table.publish() / 1e3;
              return table;
            });
    return micros[0];
  }

  private void serve(String how, MapTable ours, MapTable theirs, Pairs pairs) throws Exception {
    MapTable.Served served = ours.answerAll();
    MapTable.Served tracked = theirs.answerAll();
    String all = "driver-%d-executors-%s".formatted(executors, how);
    less(all + "cpu", "ms", served.nanos() / 1e6, tracked.nanos() / 1e6, pairs);
    less(all + "bytes", "MB", served.bytes() / 1e6, tracked.bytes() / 1e6, pairs);
  }

  private void less(String what, String unit, double ours, double theirs, Pairs pairs) {
    pairs.less(name() + what, unit, ours, SPARK, theirs);
  }

  /** Sluice's own table beside a smaller one. */
  private void grow(DirectoryScale few, BroadcastManager manager, Pairs pairs) throws Exception {
    MapTable large = sluice(manager, false, WITHOUT_BROADCAST);
    MapTable small = few.sluice(manager, false, WITHOUT_BROADCAST);
    String partner = few.maps + "-maps";
    pairs.less(
        name() + "publish-growth",
        "us/map",
        large.publish() / 1e3 / maps,
        partner,
        small.publish() / 1e3 / few.maps);
    pairs.less(
        name() + "fetch-growth",
        "us/map",
        large.fetch().nanos() / 1e3 / maps,
        partner,
        small.fetch().nanos() / 1e3 / few.maps);
  }

  private MapTable sluice(BroadcastManager manager, boolean oneByOne, long minBroadcastBytes) {
    return new SluiceTable(
        executors, maps, partitions, oneByOne, new SparkBroadcasts(manager), minBroadcastBytes);
  }

  private MapTable spark(SparkContext context, int minBroadcastBytes) {
    return new SparkTable(
        context.conf(),
        executors,
        maps,
        partitions,
        context.env().broadcastManager(),
        minBroadcastBytes);
  }
}
