package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The RDMA devices of this machine (ibv_get_device_list(3)). Contexts that were opened stay valid
 * when the list is closed; devices that were not opened do not.
 */
public final class IbvDeviceList extends NativeObject {
  private final List<IbvDevice> devices;

  private IbvDeviceList(MemorySegment array, List<IbvDevice> devices) {
    super("device list", null, array);
    this.devices = devices;
  }

  /**
   * Lists the devices.
   *
   * @throws ProviderUnavailableException when libibverbs cannot be loaded or the kernel has no RDMA
   *     at all
   * @throws VerbsException with another error number of the manual page
   */
  public static IbvDeviceList get() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.LIBRARY.require();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      MemorySegment array = LibIbverbs.GET_DEVICE_LIST.callForPointer(count);
      return new IbvDeviceList(array, devices(array, count.get(JAVA_INT, 0)));
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOSYS) {
        throw noRdma(e.getMessage());
      }
      throw e;
    }
  }

  /**
   * What to say where the kernel has no RDMA at all.
   *
   * @param sign of it
   */
  public static ProviderUnavailableException noRdma(String sign) {
    return new ProviderUnavailableException(
        "the kernel has no RDMA: load ib_uverbs and the device's driver (" + sign + ")");
  }

  @SuppressWarnings("restricted")
  private static List<IbvDevice> devices(MemorySegment array, int count) {
    MemorySegment sized = array.reinterpret(count * ADDRESS.byteSize());
    List<IbvDevice> devices = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      devices.add(new IbvDevice(IbvStructs.DEVICE.at(sized.getAtIndex(ADDRESS, i))));
    }
    return devices;
  }

  public List<IbvDevice> devices() {
    return List.copyOf(devices);
  }

  /** The device of a name such as {@code mlx5_0}. */
  public Optional<IbvDevice> find(String name) {
    return devices.stream().filter(device -> device.name().equals(name)).findFirst();
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.FREE_DEVICE_LIST.invoke(pointer);
  }
}
