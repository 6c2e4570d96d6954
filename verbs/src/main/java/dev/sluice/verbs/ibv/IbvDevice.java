// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * An RDMA device: {@code struct ibv_device} (ibv_get_device_list(3)). Its names stay readable. All
 * other methods work only while the list or the context that returned it is open. Any thread.
 */
public final class IbvDevice {
  /** Transport of a device ({@code enum ibv_transport_type}). */
  public enum TransportType implements CConstant {
    UNKNOWN,
    IB,
    IWARP,
    USNIC,
    USNIC_UDP,
    UNSPECIFIED;

    /** C counts from -1 here. */
    @Override
    public int value() {
      return ordinal() - 1;
    }
  }

  /** Kind of a device ({@code enum ibv_node_type}). */
  public enum NodeType implements CConstant {
    UNKNOWN,
    CA,
    SWITCH,
    ROUTER,
    RNIC,
    USNIC,
    USNIC_UDP,
    UNSPECIFIED;

    /** C has -1 for UNKNOWN and counts the others from 1. */
    @Override
    public int value() {
      return this == UNKNOWN ? -1 : ordinal();
    }
  }

  private final NativeObject owner;
  private final MemorySegment pointer;

  /** A copy of the C structure. */
  private final MemorySegment struct;

  /** The owner is the list or the context that owns the C structure. */
  IbvDevice(NativeObject owner, MemorySegment pointer) {
    this.owner = owner;
    this.pointer = pointer;
    struct = IbvStructs.DEVICE.copy(IbvStructs.DEVICE.at(pointer));
  }

  private MemorySegment pointer() throws VerbsException {
    owner.pointer();
    return pointer;
  }

  /** The kernel's name, such as {@code mlx5_0}. */
  public String name() {
    return CString.read(IbvStructs.DEVICE.part(struct, "name"));
  }

  /** Name of the character device in {@code /dev/infiniband}, such as {@code uverbs0}. */
  public String uverbsName() {
    return CString.read(IbvStructs.DEVICE.part(struct, "dev_name"));
  }

  /** Directory in sysfs, such as {@code /sys/class/infiniband/mlx5_0}. */
  public String sysfsPath() {
    return CString.read(IbvStructs.DEVICE.part(struct, "ibdev_path"));
  }

  /** Node GUID (ibv_get_device_guid(3)). */
  public long guid() throws VerbsException {
    return Long.reverseBytes((long) LibIbverbs.GET_DEVICE_GUID.invoke(pointer()));
  }

  /**
   * The kernel's index of the device (ibv_get_device_index(3)); -1 if it has none.
   *
   * @throws VerbsException ENOSYS with rdma-core before 28
   */
  public int index() throws VerbsException {
    return LibIbverbs.GET_DEVICE_INDEX.call(pointer());
  }

  public CValue<NodeType> nodeType() {
    return new CValue<>(NodeType.class, IbvStructs.DEVICE.getInt(struct, "node_type"));
  }

  /** The node type in words (ibv_node_type_str(3)). */
  public String nodeTypeText() throws VerbsException {
    return LibIbverbs.NODE_TYPE_STR.callForString(nodeType().number());
  }

  public CValue<TransportType> transportType() {
    return new CValue<>(TransportType.class, IbvStructs.DEVICE.getInt(struct, "transport_type"));
  }

  /**
   * Opens the device (ibv_open_device(3)); the caller closes the context.
   *
   * @throws VerbsException EACCES without permission on {@code /dev/infiniband}
   */
  public IbvContext open() throws VerbsException {
    MemorySegment context = LibIbverbs.OPEN_DEVICE.callForPointer(pointer());
    try {
      return IbvContext.owned(context);
    } catch (RuntimeException | Error e) {
      LibIbverbs.CLOSE_DEVICE.call(context);
      throw e;
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
