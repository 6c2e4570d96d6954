// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.cm.RdmaDeviceList;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvBuf;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvCqEx;
import dev.sluice.verbs.ibv.IbvCqInitAttrEx;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvDmah;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvGrh;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvMrInitAttr;
import dev.sluice.verbs.ibv.IbvMw;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSge;
import dev.sluice.verbs.ibv.IbvSgeList;
import dev.sluice.verbs.ibv.IbvSrqInitAttrEx;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every public method of a closed object throws, and touches no memory that C has freed. Reflection
 * finds the objects and their methods. A new class fails here until {@link #closed} creates one,
 * and a new parameter type until {@link #SAMPLES} has one. Views of a closed object count as closed
 * objects, too.
 */
@OnFakeAdapters
class UseAfterCloseTest {
  /** Methods that return Java's own values, or that have nothing left to do. */
  private static final Set<String> HARMLESS =
      Set.of(
          "IbvPd.context",
          "IbvQp.cap",
          "IbvQpEx.qp",
          "IbvCq.acknowledgeEvents",
          "IbvCqEx.cq",
          "IbvMw.type",
          "RdmaAddrInfo.entries");

  private static final Arena ARENA = Arena.ofAuto();

  /** All send operations, or all members of completions. */
  private static final long ALL = 0x7ff;

  private static final IbvDmah.InitAttr ANY_HANDLE =
      new IbvDmah.InitAttr(OptionalInt.empty(), OptionalInt.empty(), Optional.empty());

  private static final IbvQpCap CAP = new IbvQpCap(1, 1, 1, 1, 0);

  /** An argument for each parameter type. */
  private static final Map<Class<?>, Object> SAMPLES = new HashMap<>();

  /**
   * @param object {@code closed} itself, or a view of it
   */
  private record Call(Object object, NativeObject closed, Method method) {
    static Stream<Call> of(Object object, NativeObject closed) {
      return Stream.of(object.getClass().getDeclaredMethods())
          .filter(method -> Modifier.isPublic(method.getModifiers()))
          .filter(method -> !Modifier.isStatic(method.getModifiers()))
          .map(method -> new Call(object, closed, method));
    }

    void invoke() throws Throwable {
      List<Object> arguments = new ArrayList<>();
      for (Class<?> type : method.getParameterTypes()) {
        assertThat(SAMPLES).as("an argument for " + method).containsKey(type);
        arguments.add(SAMPLES.get(type));
      }
      try {
        method.invoke(object, arguments.toArray());
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }

    @Override
    public String toString() {
      return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }
  }

  /**
   * Creates and closes one object of each class.
   *
   * @param views receives each view with its object
   */
  private static List<NativeObject> closed(Map<Object, NativeObject> views) throws Exception {
    FakeAdapters.reset();
    IbvDeviceList list = IbvDeviceList.get();
    IbvContext context = list.devices().getFirst().open();
    IbvPd pd = context.allocPd();
    IbvCompChannel channel = context.createCompChannel();
    IbvCqEx cqEx = context.createCqEx(new IbvCqInitAttrEx(1, channel, 0, ALL, 0));
    IbvCq cq = cqEx.cq();
    IbvQp qp = pd.createQpEx(IbvQpInitAttrEx.of(IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP), ALL));
    views.put(qp.toQpEx(), qp);
    views.put(cqEx, cq);
    RdmaEventChannel events = RdmaEventChannel.create();
    RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP);
    id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
    List<NativeObject> objects =
        List.of(
            qp,
            pd.createSrq(1, 1),
            pd.regMr(ARENA.allocate(8), IbvMr.Access.LOCAL_WRITE),
            pd.allocMw(IbvMw.Type.TYPE_1),
            pd.createAh(IbvAhAttr.ZERO),
            context.openXrcd(-1, 0),
            pd.allocBuf(8),
            context.allocDmah(ANY_HANDLE),
            cq,
            channel,
            pd,
            context,
            list,
            id,
            events,
            RdmaDeviceList.get(),
            RdmaAddrInfo.get(
                "10.0.0.1", "1", new RdmaAddrInfo.Hints(0, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC)));
    for (NativeObject object : objects) {
      object.close();
    }
    return objects;
  }

  /** Fills in open objects: only the object whose method is called is closed. */
  private static void fillSamples() throws Exception {
    IbvContext context = IbvDeviceList.get().devices().getFirst().open();
    IbvCompChannel channel = context.createCompChannel();
    IbvCq cq = context.createCq(1, channel, 0);
    IbvPd pd = context.allocPd();
    IbvQpInitAttr init = IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP);
    SAMPLES.put(int.class, 1);
    SAMPLES.put(long.class, 0L);
    SAMPLES.put(boolean.class, true);
    SAMPLES.put(byte[].class, new byte[0]);
    SAMPLES.put(String.class, "mlx5_0");
    SAMPLES.put(MemorySegment.class, ARENA.allocate(512));
    SAMPLES.put(InetSocketAddress.class, new InetSocketAddress("10.0.0.1", 1));
    SAMPLES.put(IbvCompChannel.class, channel);
    SAMPLES.put(IbvPd.class, pd);
    SAMPLES.put(IbvQpCap.class, CAP);
    SAMPLES.put(IbvQpAttr.class, new IbvQpAttr().state(IbvQp.State.INIT));
    SAMPLES.put(IbvQpInitAttr.class, init);
    SAMPLES.put(IbvQpInitAttrEx.class, IbvQpInitAttrEx.of(init, ALL));
    SAMPLES.put(IbvSrqInitAttrEx.class, IbvSrqInitAttrEx.xrc(1, 1, context.openXrcd(-1, 0), cq));
    SAMPLES.put(IbvCqInitAttrEx.class, IbvCqInitAttrEx.of(1, ALL));
    SAMPLES.put(IbvAh.class, pd.createAh(IbvAhAttr.ZERO));
    SAMPLES.put(IbvMr.class, pd.regMr(ARENA.allocate(8), IbvMr.Access.LOCAL_WRITE));
    SAMPLES.put(IbvMrInitAttr.class, IbvMrInitAttr.of(ARENA.allocate(8), 0));
    SAMPLES.put(IbvBuf.class, pd.allocBuf(8));
    SAMPLES.put(IbvDmah.InitAttr.class, ANY_HANDLE);
    SAMPLES.put(IbvMr.Advice.class, IbvMr.Advice.PREFETCH);
    SAMPLES.put(IbvMw.class, pd.allocMw(IbvMw.Type.TYPE_1));
    SAMPLES.put(IbvMw.Type.class, IbvMw.Type.TYPE_1);
    SAMPLES.put(IbvSge[].class, new IbvSge[0]);
    SAMPLES.put(IbvSgeList.class, new IbvSgeList(ARENA, 1));
    SAMPLES.put(IbvGrh.class, new IbvGrh(ARENA.allocate(IbvGrh.BYTES)));
    SAMPLES.put(Gid.class, new Gid(0, 1));
    SAMPLES.put(IbvAsyncEvent.Type.class, IbvAsyncEvent.Type.COMM_EST);
    SAMPLES.put(IbvAhAttr.class, IbvAhAttr.ZERO);
    SAMPLES.put(IbvSendWrList.Opcode.class, IbvSendWrList.Opcode.RDMA_READ);
    SAMPLES.put(IbvQp.State.class, IbvQp.State.INIT);
    SAMPLES.put(IbvQpEx.SelectivityLevel.class, IbvQpEx.SelectivityLevel.RANGE);
    SAMPLES.put(NativeObject.Destroyer.class, (NativeObject.Destroyer) qp -> {});
    SAMPLES.put(IbvWcArray.class, new IbvWcArray(ARENA, 1));
    SAMPLES.put(IbvRecvWrList.class, new IbvRecvWrList(ARENA, 1, 1).add(1));
    SAMPLES.put(
        IbvSendWrList.class,
        new IbvSendWrList(ARENA, 1, 1).add(1, IbvSendWrList.Opcode.RDMA_READ, 0));
    SAMPLES.put(RdmaConnParam.class, RdmaConnParam.DEFAULT);
    SAMPLES.put(RdmaEventChannel.class, RdmaEventChannel.create());
    SAMPLES.put(IbvEce.class, new IbvEce(0, 0, 0));
    SAMPLES.put(
        RdmaAddrInfo.Hints.class, new RdmaAddrInfo.Hints(0, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC));
    SAMPLES.put(RdmaCmId.PortSpace.class, RdmaCmId.PortSpace.TCP);
  }

  static Stream<Call> calls() throws Exception {
    Map<Object, NativeObject> objects = new LinkedHashMap<>();
    closed(objects).forEach(object -> objects.put(object, object));
    fillSamples();
    return objects.entrySet().stream()
        .flatMap(entry -> Call.of(entry.getKey(), entry.getValue()))
        .filter(call -> !HARMLESS.contains(call.toString()));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void methodsOfClosedObjectsThrow(Call call) {
    assertThatThrownBy(call::invoke)
        .isInstanceOfAny(VerbsException.class, IllegalStateException.class)
        .hasMessageContaining(call.closed.toString())
        .hasMessageContaining("is closed");
  }

  @Test
  void everyClassOfObjectsIsChecked() throws Exception {
    Set<Class<?>> checked = new HashSet<>();
    closed(new HashMap<>()).forEach(object -> checked.add(object.getClass()));
    List<Class<?>> all = new ArrayList<>();
    for (Class<?> member : List.of(IbvContext.class, RdmaCmId.class)) {
      all.addAll(objectsInPackageOf(member));
    }
    assertThat(checked).containsExactlyInAnyOrderElementsOf(all);
  }

  private static List<Class<?>> objectsInPackageOf(Class<?> member) throws Exception {
    Path classes = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> objects = new ArrayList<>();
    try (Stream<Path> files =
        Files.list(classes.resolve(member.getPackageName().replace('.', '/')))) {
      for (String file : files.map(path -> path.getFileName().toString()).toList()) {
        Class<?> type = Class.forName(member.getPackageName() + "." + file.replace(".class", ""));
        if (NativeObject.class.isAssignableFrom(type)
            && !Modifier.isAbstract(type.getModifiers())) {
          objects.add(type);
        }
      }
    }
    return objects;
  }

  @Test
  void closedObjectsHaveNames() throws Exception {
    assertThat(closed(new HashMap<>()))
        .allSatisfy(object -> assertThat(object).asString().contains("0x"));
  }

  @Test
  void devicesOfAClosedListKeepTheirNames() throws Exception {
    FakeAdapters.reset();
    IbvDeviceList list = IbvDeviceList.get();
    IbvDevice device = list.devices().getFirst();
    list.close();
    assertThat(device.name()).isEqualTo("mlx5_0");
    assertThat(device.uverbsName()).isEqualTo("uverbs0");
    assertThatThrownBy(device::guid).hasMessageContaining("is closed");
    assertThatThrownBy(device::index).hasMessageContaining("is closed");
    assertThatThrownBy(device::open).hasMessageContaining("is closed");
  }

  @Test
  void datagramsToAClosedAddressHandleAreRefused() throws Exception {
    FakeAdapters.reset();
    IbvContext context = IbvDeviceList.get().devices().getFirst().open();
    IbvPd pd = context.allocPd();
    IbvQp qp = pd.createQp(IbvQpInitAttr.of(IbvQp.Type.UD, context.createCq(1), CAP));
    IbvAh ah = pd.createAh(IbvAhAttr.ZERO);
    IbvSendWrList requests = new IbvSendWrList(ARENA, 1, 1);
    requests.add(1, IbvSendWrList.Opcode.SEND, 0).datagram(ah, 1, 1);
    ah.close();
    assertThatThrownBy(() -> qp.postSend(requests))
        .isInstanceOf(PostException.class)
        .hasMessageContaining(ah + " is closed");
  }

  @Test
  void bindsOfAClosedRegionAreRefused() throws Exception {
    FakeAdapters.reset();
    IbvContext context = IbvDeviceList.get().devices().getFirst().open();
    IbvPd pd = context.allocPd();
    IbvQp qp = pd.createQp(IbvQpInitAttr.of(IbvQp.Type.RC, context.createCq(1), CAP));
    IbvMr mr = pd.regMr(ARENA.allocate(8), IbvMr.Access.LOCAL_WRITE);
    IbvSendWrList requests = new IbvSendWrList(ARENA, 1, 1);
    requests
        .add(1, IbvSendWrList.Opcode.BIND_MW, 0)
        .bind(pd.allocMw(IbvMw.Type.TYPE_2), 1, mr, 0, 1, 0);
    mr.close();
    assertThatThrownBy(() -> qp.postSend(requests))
        .isInstanceOf(PostException.class)
        .hasMessageContaining(mr + " is closed");
  }

  @Test
  void requestsAndCompletionsEndWithTheirArena() throws Exception {
    FakeAdapters.reset();
    IbvContext context = IbvDeviceList.get().devices().getFirst().open();
    IbvCq cq = context.createCq(1);
    IbvQp qp = context.allocPd().createQp(IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP));
    IbvSendWrList requests;
    IbvWcArray completions;
    try (Arena arena = Arena.ofConfined()) {
      requests = new IbvSendWrList(arena, 1, 1).add(1, IbvSendWrList.Opcode.RDMA_READ, 0);
      completions = new IbvWcArray(arena, 1);
    }
    assertThatThrownBy(() -> qp.postSend(requests)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> cq.poll(completions)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> completions.wrId(0)).isInstanceOf(IllegalStateException.class);
  }
}
