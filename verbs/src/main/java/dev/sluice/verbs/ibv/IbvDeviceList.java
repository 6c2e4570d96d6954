// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The RDMA devices of this machine (ibv_get_device_list(3)). After the list is closed, opened
 * contexts stay valid; devices that were not opened may not be used. Any thread; the caller of
 * {@link #get} closes it.
 */
public final class IbvDeviceList extends NativeObject {
  private final List<IbvDevice> devices = new ArrayList<>();

  @SuppressWarnings("restricted")
  private IbvDeviceList(MemorySegment array, int count) {
    super("device list", null, array, LibIbverbs.FREE_DEVICE_LIST::invoke, 0);
    MemorySegment sized = array.reinterpret(count * ADDRESS.byteSize());
    for (int i = 0; i < count; i++) {
      devices.add(new IbvDevice(this, sized.getAtIndex(ADDRESS, i)));
    }
  }

  /**
   * Lists the devices.
   *
   * @throws ProviderUnavailableException if libibverbs cannot be loaded or the kernel lacks RDMA
   * @throws VerbsException for other errors of the manual page
   */
  public static IbvDeviceList get() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.Library.IBVERBS.require();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      MemorySegment array = LibIbverbs.GET_DEVICE_LIST.callForPointer(count);
      return new IbvDeviceList(array, count.get(JAVA_INT, 0));
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOSYS) {
        throw noRdma(e.getMessage());
      }
      throw e;
    }
  }

  /** Returns the exception for a kernel that has no RDMA at all, and the fact that shows it. */
  public static ProviderUnavailableException noRdma(String sign) {
    return new ProviderUnavailableException(
        "the kernel has no RDMA: load ib_uverbs and the device's driver (" + sign + ")");
  }

  public List<IbvDevice> devices() {
    struct(); // throws if closed: the devices are freed with the list
    return List.copyOf(devices);
  }

  /** Returns the device with a name such as {@code mlx5_0}. */
  public Optional<IbvDevice> find(String name) {
    return devices().stream().filter(device -> device.name().equals(name)).findFirst();
  }
}
