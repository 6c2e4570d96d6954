package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * An RDMA device: {@code struct ibv_device}. Valid as long as its list or a context of it is open.
 */
public final class IbvDevice {
  private final MemorySegment struct;

  IbvDevice(MemorySegment struct) {
    this.struct = struct;
  }

  /** The kernel's name, such as {@code mlx5_0}. */
  public String name() {
    return IbvStructs.DEVICE.part(struct, "name").getString(0);
  }

  /** Of the character device in {@code /dev/infiniband}, such as {@code uverbs0}. */
  public String uverbsName() {
    return IbvStructs.DEVICE.part(struct, "dev_name").getString(0);
  }

  /** In sysfs, such as {@code /sys/class/infiniband/mlx5_0}. */
  public String sysfsPath() {
    return IbvStructs.DEVICE.part(struct, "ibdev_path").getString(0);
  }

  /** Node GUID (ibv_get_device_guid(3)). */
  public long guid() throws VerbsException {
    return Long.reverseBytes((long) LibIbverbs.GET_DEVICE_GUID.invoke(struct));
  }

  /**
   * The kernel's index of the device (ibv_get_device_index(3)); -1 where it has none.
   *
   * @throws VerbsException ENOSYS with rdma-core before 28
   */
  public int index() throws VerbsException {
    return LibIbverbs.GET_DEVICE_INDEX.call(struct);
  }

  public CValue<IbvTransportType> transportType() {
    return new CValue<>(IbvTransportType.class, IbvStructs.DEVICE.getInt(struct, "transport_type"));
  }

  /**
   * Opens the device (ibv_open_device(3)); the caller closes the context.
   *
   * @throws VerbsException EACCES without permission on {@code /dev/infiniband}
   */
  public IbvContext open() throws VerbsException {
    return IbvContext.owned(LibIbverbs.OPEN_DEVICE.callForPointer(struct));
  }

  @Override
  public String toString() {
    return name();
  }
}
