package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.CpuTime;
import dev.sluice.spark.locate.Broadcasts;
import dev.sluice.spark.locate.DirectoryCodec;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.LocatorClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The location directory, and the locators that ask it. */
final class SluiceTable implements MapTable {
  private static final long TIMEOUT_MS = 60_000;

  private final CountedBroadcasts broadcasts;
  private final CodecChannel driver;
  private final int executors;
  private final List<Publish> batches = new ArrayList<>();

  /**
   * @param oneByOne whether map outputs are published one by one, by one executor after the other;
   *     else all of an executor at once, as for one wave of tasks
   * @param broadcasts for tables of so many bytes
   */
  SluiceTable(
      int executors,
      int maps,
      int partitions,
      boolean oneByOne,
      Broadcasts broadcasts,
      long minBroadcastBytes) {
    this.executors = executors;
    this.broadcasts = new CountedBroadcasts(broadcasts);
    driver =
        new CodecChannel(
            new LocationDirectory(this.broadcasts, minBroadcastBytes, _ -> true, _ -> {}));
    List<List<Published>> published = new ArrayList<>();
    for (int executor = 0; executor < executors; executor++) {
      published.add(ScaleSamples.published(executor, executors, maps, partitions));
    }
    for (int i = 0; i < (oneByOne ? maps : executors); i++) {
      int executor = i % executors;
      List<Published> all = published.get(executor);
      int index = i / executors;
      batches.add(
          new Publish(
              ScaleSamples.endpoint(executor), oneByOne ? all.subList(index, index + 1) : all));
    }
  }

  @Override
  public long publish() throws IOException {
    return CpuTime.ofThread(
        () -> {
          for (Publish batch : batches) {
            driver.ask(batch);
          }
        });
  }

  @Override
  public Fetched fetch() throws Exception {
    long before = driver.answerBytes;
    long[] nanos = new long[1];
    long heapBytes =
        Heap.retainedBytes(
            () -> {
              LocatorClient client = locator();
              nanos[0] = CpuTime.ofThread(() -> locateFirst(client));
              return client;
            });
    return new Fetched(driver.answerBytes - before, nanos[0], heapBytes);
  }

  private static void locateFirst(LocatorClient client) {
    var located = client.locate(ScaleSamples.SHUFFLE, "0", new long[] {0}).join();
    if (located.outputs()[0] == null) {
      throw new IllegalStateException("map output 0 was not found");
    }
  }

  private LocatorClient locator() {
    return new LocatorClient(
        new LocatorClient.Services(
            ScaleSamples.PROVIDER,
            new LocatorClient.Driver(driver, broadcasts, Runnable::run),
            (_, _, _) -> CompletableFuture.failedFuture(new IOException("nobody there")),
            TIMEOUT_MS,
            _ -> {},
            System::nanoTime));
  }

  @Override
  public Served answerAll() throws IOException {
    byte[] question = driver.codec.encode(new Locate(ScaleSamples.SHUFFLE, 0, 0, 0));
    long before = driver.answerBytes + broadcasts.shippedBytes;
    long nanos =
        CpuTime.ofThread(
            () -> {
              for (int executor = 0; executor < executors; executor++) {
                driver.serve(question);
              }
            });
    return new Served(driver.answerBytes + broadcasts.shippedBytes - before, nanos);
  }

  /** Another's, with the bytes that were shipped. */
  private static final class CountedBroadcasts implements Broadcasts {
    private final Broadcasts broadcasts;
    private long shippedBytes;

    CountedBroadcasts(Broadcasts broadcasts) {
      this.broadcasts = broadcasts;
    }

    @Override
    public Shipped ship(byte[] bytes) throws IOException {
      shippedBytes += bytes.length;
      return broadcasts.ship(bytes);
    }

    @Override
    public byte[] fetch(byte[] handle) throws IOException {
      return broadcasts.fetch(handle);
    }
  }

  /**
   * A directory in this very process: every message goes through the codec both ways, as over
   * Spark's RPC, and the bytes of the answers are counted.
   */
  private static final class CodecChannel implements DriverChannel {
    private final DirectoryCodec codec = new DirectoryCodec();
    private final LocationDirectory directory;
    private long answerBytes;

    CodecChannel(LocationDirectory directory) {
      this.directory = directory;
    }

    @Override
    public DirectoryMessage ask(DirectoryMessage message) throws IOException {
      return codec.decode(serve(codec.encode(message)));
    }

    /** What the driver does with an executor's message, and answers. */
    byte[] serve(byte[] message) throws IOException {
      byte[] answer = codec.encode(directory.handle(codec.decode(message)));
      answerBytes += answer.length;
      return answer;
    }
  }
}
