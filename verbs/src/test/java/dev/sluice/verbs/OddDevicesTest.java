// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Devices and libraries with behaviour that is rare here, or that later releases may show. */
@OnFakeAdapters
class OddDevicesTest {
  private static final int LATER_RELEASE = 99;
  private static final long DEADLINE_SECONDS = 30;

  private FakeAdapters adapters;

  @BeforeEach
  void newAdapters() throws IOException {
    adapters = FakeAdapters.reset();
  }

  private static IbvContext open() throws Exception {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      return list.devices().getFirst().open();
    }
  }

  @Test
  void anAsynchronousEventOfALaterReleaseIsANumber() throws Exception {
    try (IbvContext context = open()) {
      adapters.raise(0, LATER_RELEASE, 0);
      try (IbvAsyncEvent event = context.awaitAsyncEvent(0).orElseThrow()) {
        assertThat(event.type().known()).isEmpty();
        assertThat(event.type()).hasToString("99");
        assertThat(event.text()).isEqualTo("an event");
      }
    }
  }

  @Test
  void anEventOfALaterRdmaCmIsANumber() throws Exception {
    try (RdmaEventChannel channel = RdmaEventChannel.create();
        RdmaCmId id = channel.createId(RdmaCmId.PortSpace.TCP)) {
      id.listen(1);
      adapters.raiseByCm(LATER_RELEASE);
      try (RdmaCmEvent event = channel.awaitEvent(0).orElseThrow()) {
        assertThat(event.type()).hasToString("99");
        assertThat(event.text()).isEqualTo("an event");
        assertThat(event).hasToString("99 of " + id + ", status 0");
      }
    }
  }

  @Test
  void aQueueAtTheAddressOfADestroyedOneGetsItsEvents() throws Exception {
    try (IbvContext context = open()) {
      IbvCompChannel channel = context.createCompChannel();
      IbvCq former = context.createCq(1, channel, 0);
      adapters.set(0, "destroy_cq_hangs", 1);
      CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> close(former));
      awaitKnob("is_destroying_cq");
      adapters.set(0, "same_address", 1);
      IbvCq next = context.createCq(1, channel, 0);
      assertThat(next.pointer()).isEqualTo(former.pointer());
      adapters.set(0, "destroy_cq_hangs", 0);
      closing.get(DEADLINE_SECONDS, TimeUnit.SECONDS);

      adapters.announce(0);
      assertThat(channel.awaitEvent(0)).contains(next);
      next.acknowledgeEvents();
    }
  }

  private static void close(IbvCq queue) {
    try {
      queue.close();
    } catch (VerbsException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitKnob(String knob) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (adapters.get(0, knob) == 0) {
      assertThat(System.nanoTime()).as(knob).isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  /** Loads the binding again, but without a class that an open context needs. */
  private static final class WithoutOperations extends ClassLoader {
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("dev.sluice.verbs.")) {
        return super.loadClass(name, resolve);
      }
      if (name.endsWith(".IbvOps")) {
        throw new ClassNotFoundException(name);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      String file = name.replace('.', '/') + ".class";
      try (InputStream stream = OddDevicesTest.class.getClassLoader().getResourceAsStream(file)) {
        byte[] bytes = stream.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void aContextThatCannotBeUsedIsClosed() throws Exception {
    Class<?> lists = new WithoutOperations().loadClass(IbvDeviceList.class.getName());
    Object list = lists.getMethod("get").invoke(null);
    Object device = ((List<?>) lists.getMethod("devices").invoke(list)).getFirst();
    assertThatThrownBy(() -> device.getClass().getMethod("open").invoke(device))
        .isInstanceOf(InvocationTargetException.class)
        .hasCauseInstanceOf(NoClassDefFoundError.class);
    assertThat(adapters.get(0, "open_device")).isEqualTo(1);
    assertThat(adapters.get(0, "close_device")).isEqualTo(1);
  }
}
