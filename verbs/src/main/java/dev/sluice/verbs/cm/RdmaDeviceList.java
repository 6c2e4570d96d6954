// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvContext;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices as librdmacm opened them (rdma_get_devices(3)), for protection domains and completion
 * queues that several ids share. Any thread. The caller of {@link #get} closes the list, after the
 * ids that use its objects; that closes all objects of its contexts.
 */
public final class RdmaDeviceList extends NativeObject {
  private final List<IbvContext> contexts;

  private RdmaDeviceList(MemorySegment array, List<IbvContext> contexts) {
    super("device list of librdmacm", null, array, LibRdmacm.FREE_DEVICES::invoke, 0);
    this.contexts = contexts;
  }

  /**
   * Opens all devices; the caller closes the list.
   *
   * @throws ProviderUnavailableException if librdmacm cannot be loaded
   * @throws VerbsException ENODEV if there is no device
   */
  public static RdmaDeviceList get() throws VerbsException, ProviderUnavailableException {
    LibRdmacm.Library.RDMACM.require();
    MemorySegment count = HEAP.allocate(JAVA_INT);
    MemorySegment array = LibRdmacm.GET_DEVICES.callForPointer(count);
    return new RdmaDeviceList(array, contexts(array, count.get(JAVA_INT, 0)));
  }

  @SuppressWarnings("restricted")
  private static List<IbvContext> contexts(MemorySegment array, int count) {
    MemorySegment sized = array.reinterpret(count * ADDRESS.byteSize());
    List<IbvContext> contexts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      contexts.add(IbvContext.borrowed(sized.getAtIndex(ADDRESS, i)));
    }
    return contexts;
  }

  public List<IbvContext> contexts() {
    struct(); // throws if closed: the contexts are closed with the list
    return List.copyOf(contexts);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    for (IbvContext context : contexts) {
      context.close();
    }
    super.destroy(pointer);
  }
}
