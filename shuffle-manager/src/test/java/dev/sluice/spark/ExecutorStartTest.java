// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.executor.NodeHandOver;
import dev.sluice.spark.executor.SluiceRuntime;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.logging.log4j.Level;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/** Behaviour of an executor when something hangs or is missing at its start. */
class ExecutorStartTest {
  private static final TaskContext TASK = TaskContext$.MODULE$.empty();

  private final CountDownLatch released = new CountDownLatch(1);
  private JavaSparkContext context;

  @BeforeEach
  void start() {
    context =
        new JavaSparkContext(
            new SparkConf(false)
                .setMaster("local[1]")
                .setAppName("test")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1"));
  }

  @AfterEach
  void stop() {
    released.countDown();
    context.close();
  }

  @Test
  void tasksGoOnIfTheRuntimeDoesNotStart() {
    try (RdmaShuffle rdma = shuffle("auto", new Hanging())) {
      assertThat(rdma.client(TASK)).isNotNull();
    }
  }

  @Test
  void tasksFailWithTheReasonIfTheProviderIsNamed() {
    try (RdmaShuffle rdma = shuffle("soft", new Hanging())) {
      assertThatThrownBy(() -> rdma.client(TASK))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the start took longer than 100 ms");
    }
  }

  /** If the shuffle manager's constructor failed, executors would be launched again and again. */
  @Test
  void tasksFailWithTheReasonIfTheConfigurationIsWrong() {
    SparkConf conf =
        SparkEnv.get().conf().clone().set("spark.shuffle.rdma.buffers.maxBytes", "many");
    try (RdmaShuffle rdma = new SluiceShuffle(conf, false, null, new Answering())) {
      assertThatThrownBy(() -> rdma.client(TASK))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("spark.shuffle.rdma.buffers.maxBytes");
    }
  }

  /** Map outputs stay with the executor, unless a node daemon starts before they are committed. */
  @Test
  void tasksBeginWhereTheNodeHasNoBlockServer(@TempDir Path directory) {
    try (RdmaShuffle rdma = handingOver(directory.resolve("node.sock"), new Answering())) {
      assertThat(rdma.registering(new OpenWriter(), 0, 0, TASK)).isNotNull();
      assertThat(rdma.client(TASK)).isNotNull();
    }
  }

  @Test
  void tasksFailWithTheReasonIfTheDriverDoesNotKnowTheNode(@TempDir Path directory) {
    Path socket = directory.resolve("node.sock");
    try (RdmaShuffle rdma = handingOver(socket, new SluiceShuffle.ExecutorBackends() {})) {
      assertThatThrownBy(() -> rdma.client(TASK))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the driver has no location directory");
    }
  }

  /** Spark still expects map outputs to end with their executors, and looks for them there. */
  @Test
  void tasksFailWithTheReasonIfTheDriverHasNotPreparedForNodes() {
    SparkConf conf =
        SparkEnv.get()
            .conf()
            .clone()
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.node", "required");
    try (RdmaShuffle rdma = new SluiceShuffle(conf, false, null, new Answering())) {
      assertThatThrownBy(() -> rdma.client(TASK))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("its shuffle manager does not call RdmaShuffle.create");
    }
  }

  /** Processes READ only from others with the same provider, so no block would be READ. */
  @Test
  void aNodeWithAnotherProviderIsReported(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("node.sock");
    try (NodeDaemon _ = NodeDaemon.start(node(directory, socket));
        LogCapture log = new LogCapture(NodeHandOver.class, Level.WARN);
        RdmaShuffle other = handingOver(socket, new OtherProvider());
        RdmaShuffle same = handingOver(socket, new Answering())) {
      assertThat(same.registering(new OpenWriter(), 0, 0, TASK)).isNotNull();
      assertThat(log.messages()).isEmpty();
      assertThat(other.registering(new OpenWriter(), 0, 0, TASK)).isNotNull();
      awaitMessage(log);
      assertThat(log.messages())
          .singleElement()
          .asString()
          .contains("has provider soft", "this executor has other");
    }
  }

  /** Waits for the log, because tasks do not wait until the executor knows its node daemon. */
  private static void awaitMessage(LogCapture log) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (log.messages().isEmpty()) {
      assertThat(System.nanoTime() - deadlineNanos).isNegative();
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private static NodeOptions node(Path directory, Path socket) throws IOException {
    return NodeOptions.of(
        Map.of(
            "sluice.node.directories", directory.toString(),
            "sluice.node.socket", socket.toString(),
            "sluice.node.host", "127.0.0.1",
            "sluice.node.provider", "soft",
            "sluice.node.http", ""));
  }

  private static RdmaShuffle handingOver(Path socket, SluiceShuffle.ExecutorBackends backends) {
    SparkConf conf =
        SparkEnv.get()
            .conf()
            .clone()
            .set("spark.app.id", "app-1")
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.node", "required")
            .set("spark.shuffle.rdma.node.incarnation", "ab")
            .set("spark.shuffle.rdma.node.timeout", "1s")
            .set("spark.shuffle.rdma.node.socket", socket.toString());
    return new SluiceShuffle(conf, false, null, backends);
  }

  @Test
  void aWriterThatSparkIsNotGivenIsStopped() {
    OpenWriter writer = new OpenWriter();
    try (RdmaShuffle rdma = shuffle("soft", new Hanging())) {
      assertThatThrownBy(() -> rdma.registering(writer, 0, 0, TASK))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(writer.stoppedAs).isFalse();
  }

  @Test
  void anErrorEndsNoTask() {
    Failing noThreads = new Failing(new OutOfMemoryError("unable to create native thread"));
    try (RdmaShuffle rdma = shuffle("auto", noThreads)) {
      assertThat(rdma.client(TASK)).isNotNull();
    }
  }

  /** Like an old JVM: locations would not arrive at the driver, so readers would not find them. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "soft"})
  void nothingIsPublishedWhereTheDriverHasTheStockShuffle(String provider) {
    try (LogCapture log = new LogCapture(SluiceShuffle.class, Level.WARN);
        RdmaShuffle rdma = shuffle(provider, new SluiceShuffle.ExecutorBackends() {})) {
      OpenWriter writer = new OpenWriter();
      rdma.registering(writer, 0, 0, TASK).stop(true);
      assertThat(writer.stoppedAs).isTrue();
      assertThat(rdma.client(TASK)).isNotNull();
      assertThat(log.messages()).singleElement().asString().contains("the stock shuffle");
    }
  }

  @Test
  void aRuntimeThatStartsTooLateIsClosed() throws Exception {
    Late late = new Late();
    try (RdmaShuffle rdma = shuffle("auto", late)) {
      assertThat(rdma.client(TASK)).isNotNull();
      assertThat(late.closed.getCount()).isOne();
      released.countDown();
      assertThat(late.closed.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  /**
   * Otherwise reduce tasks might ask for map outputs of an executor that the driver does not know.
   */
  @Test
  void tasksBeginWhenTheDriverKnowsTheExecutor() throws Exception {
    Announced announced = new Announced();
    try (RdmaShuffle rdma = shuffle("soft", announced)) {
      CompletableFuture<Object> task = CompletableFuture.supplyAsync(() -> rdma.client(TASK));
      assertThat(announced.asked.await(30, TimeUnit.SECONDS)).isTrue();
      assertThatThrownBy(() -> task.get(500, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      released.countDown();
      assertThat(task.get(30, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void tasksBeginIfTheDriverDoesNotAnswerTheAnnouncement() {
    SparkConf conf =
        SparkEnv.get()
            .conf()
            .clone()
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.locate.timeout", "100ms");
    try (LogCapture log = new LogCapture(SluiceRuntime.class, Level.WARN);
        RdmaShuffle rdma = new SluiceShuffle(conf, false, null, new Announced())) {
      assertThat(rdma.client(TASK)).isNotNull();
      assertThat(log.messages())
          .singleElement()
          .asString()
          .contains("100 ms", "spark.shuffle.rdma.locate.timeout");
    }
  }

  /** Otherwise a session's loader would stay as long as a thread that one of its tasks started. */
  @Test
  void noThreadKeepsTheLoaderOfTheTaskThatStartedIt() throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    try (URLClassLoader session = new URLClassLoader(new URL[0], before);
        RdmaShuffle rdma = shuffle("soft", new Answering())) {
      current.setContextClassLoader(session);
      TaskContextImpl task = TaskContext$.MODULE$.empty();
      assertThat(rdma.client(task)).isNotNull();
      task.markTaskCompleted(Option.empty());
      assertThat(Thread.getAllStackTraces().keySet())
          .filteredOn(thread -> thread.getName().startsWith("sluice-"))
          .hasSizeGreaterThan(3)
          .allMatch(thread -> thread.getContextClassLoader() != session);
    } finally {
      current.setContextClassLoader(before);
    }
  }

  private static RdmaShuffle shuffle(String provider, SluiceShuffle.ExecutorBackends backends) {
    SparkConf conf = SparkEnv.get().conf().clone().set("spark.shuffle.rdma.provider", provider);
    return new SluiceShuffle(conf, false, null, backends);
  }

  private class Answering implements SluiceShuffle.ExecutorBackends {
    @Override
    public DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return message -> new Ack();
    }
  }

  /** Its driver answers the executor's announcement after {@code released}. */
  private final class Announced implements SluiceShuffle.ExecutorBackends {
    private final CountDownLatch asked = new CountDownLatch(1);

    @Override
    public DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return message -> {
        if (message instanceof Publish) {
          asked.countDown();
          try {
            released.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
          }
        }
        return new Ack();
      };
    }
  }

  private final class Hanging extends Answering {
    @Override
    public long startTimeoutMs() {
      return 100;
    }

    @Override
    public Device openDevice(SluiceConf conf, String host, Consumer<String> refused)
        throws IOException {
      try {
        released.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IOException("released");
    }
  }

  private final class Late extends Answering {
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public long startTimeoutMs() {
      return 100;
    }

    @Override
    public Device openDevice(SluiceConf conf, String host, Consumer<String> refused)
        throws IOException {
      Device device = super.openDevice(conf, host, refused);
      try {
        released.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return inFrontOf(
          (_, method, arguments) -> {
            if (method.getName().equals("close")) {
              closed.countDown();
            }
            return method.invoke(device, arguments);
          });
    }
  }

  private static Device inFrontOf(InvocationHandler handler) {
    return (Device)
        Proxy.newProxyInstance(
            ExecutorStartTest.class.getClassLoader(), new Class<?>[] {Device.class}, handler);
  }

  private final class OtherProvider extends Answering {
    @Override
    public Device openDevice(SluiceConf conf, String host, Consumer<String> refused)
        throws IOException {
      Device device = super.openDevice(conf, host, refused);
      return inFrontOf(
          (_, method, arguments) ->
              method.getName().equals("providerName") ? "other" : method.invoke(device, arguments));
    }
  }

  private final class Failing extends Answering {
    private final Error error;

    Failing(Error error) {
      this.error = error;
    }

    @Override
    public Device openDevice(SluiceConf conf, String host, Consumer<String> refused) {
      throw error;
    }
  }
}
