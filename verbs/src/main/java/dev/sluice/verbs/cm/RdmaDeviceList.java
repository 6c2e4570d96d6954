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
  private final List<IbvContext> contexts = new ArrayList<>();

  private RdmaDeviceList(MemorySegment array) {
    super("device list of librdmacm", null, array, LibRdmacm.FREE_DEVICES::invoke, 0);
  }

  /**
   * Opens all devices; the caller closes the list.
   *
   * @throws ProviderUnavailableException if librdmacm cannot be loaded
   * @throws VerbsException ENODEV if there is no device
   */
  @SuppressWarnings("restricted")
  public static RdmaDeviceList get() throws VerbsException, ProviderUnavailableException {
    LibRdmacm.Library.RDMACM.require();
    MemorySegment count = HEAP.allocate(JAVA_INT);
    MemorySegment array = LibRdmacm.GET_DEVICES.callForPointer(count);
    RdmaDeviceList list = new RdmaDeviceList(array);
    MemorySegment sized = array.reinterpret(count.get(JAVA_INT, 0) * ADDRESS.byteSize());
    for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
      list.contexts.add(list.adopt(IbvContext.borrowed(sized.getAtIndex(ADDRESS, i))));
    }
    return list;
  }

  public List<IbvContext> contexts() {
    struct(); // throws if closed: the contexts are closed with the list
    return List.copyOf(contexts);
  }
}
