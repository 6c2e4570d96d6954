// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a new memory region: {@code struct ibv_mr_init_attr} (ibv_reg_mr_ex(3)). Created by
 * {@link #of}, {@link #ofBuf} or {@link #ofDmabuf}.
 *
 * @param mask attributes that are set, of {@link Mask}
 * @param memory registered memory; NULL of a DMA-BUF
 * @param length in bytes
 * @param access of {@link IbvMr.Access}
 * @param iova the peers' address of the first byte
 * @param fd descriptor of a DMA-BUF
 * @param fdOffset offset of the first byte in the DMA-BUF
 * @param dmah hints for the device's accesses; null for none
 * @param buf the buffer that has {@code memory}; null for other memory
 */
public record IbvMrInitAttr(
    int mask,
    MemorySegment memory,
    long length,
    int access,
    long iova,
    int fd,
    long fdOffset,
    @Nullable IbvDmah dmah,
    @Nullable IbvBuf buf) {
  /** Attributes that the structure holds ({@code comp_mask}). Bits, to be combined by |. */
  public interface Mask {
    int IOVA = 1;
    int ADDR = 1 << 1;
    int FD = 1 << 2;
    int FD_OFFSET = 1 << 3;
    int DMAH = 1 << 4;
    int BUF = 1 << 5;
  }

  /** Returns attributes of a region of memory, which the caller keeps alive. */
  public static IbvMrInitAttr of(MemorySegment memory, int access) {
    return new IbvMrInitAttr(
        Mask.ADDR, IbvPd.pinnable(memory), memory.byteSize(), access, 0, 0, 0, null, null);
  }

  /**
   * Returns attributes of a region of a buffer.
   *
   * @param part of {@link IbvBuf#memory}
   */
  public static IbvMrInitAttr ofBuf(IbvBuf buf, MemorySegment part, int access) {
    return new IbvMrInitAttr(
        Mask.BUF | Mask.ADDR, part, part.byteSize(), access, 0, 0, 0, null, buf);
  }

  /**
   * Returns attributes of a region of a DMA-BUF.
   *
   * @param iova has the same offset within a page as {@code offset}
   */
  public static IbvMrInitAttr ofDmabuf(int fd, long offset, long length, long iova, int access) {
    int mask = Mask.FD | Mask.FD_OFFSET | Mask.IOVA;
    return new IbvMrInitAttr(
        mask, MemorySegment.NULL, length, access, iova, fd, offset, null, null);
  }

  /** Lets peers address the region from another start address; not for a buffer's DMA-BUF. */
  public IbvMrInitAttr withIova(long newIova) {
    return new IbvMrInitAttr(
        mask | Mask.IOVA, memory, length, access, newIova, fd, fdOffset, dmah, buf);
  }

  public IbvMrInitAttr withDmah(IbvDmah newDmah) {
    return new IbvMrInitAttr(
        mask | Mask.DMAH, memory, length, access, iova, fd, fdOffset, newDmah, buf);
  }

  /**
   * Returns these attributes as a {@code struct ibv_mr_init_attr}, whose pointers C follows
   * unchecked.
   *
   * @throws VerbsException EINVAL if the mask names a buffer or a handle that is null or closed
   * @throws IllegalStateException if the arena of the memory is closed
   */
  MemorySegment write(SegmentAllocator allocator) throws VerbsException {
    if (isMissing(Mask.BUF, buf) || isMissing(Mask.DMAH, dmah)) {
      throw VerbsException.invalid("ibv_reg_mr_ex", "the buffer or the DMA handle is missing");
    }
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the arena of the memory is closed");
    }
    MemorySegment struct = IbvStructs.MR_INIT_ATTR.allocate(allocator);
    IbvStructs.MR_INIT_ATTR.set(struct, "length", length);
    IbvStructs.MR_INIT_ATTR.set(struct, "access", access);
    IbvStructs.MR_INIT_ATTR.set(struct, "comp_mask", mask);
    IbvStructs.MR_INIT_ATTR.set(struct, "iova", iova);
    IbvStructs.MR_INIT_ATTR.set(struct, "addr", memory);
    IbvStructs.MR_INIT_ATTR.set(struct, "fd", fd);
    IbvStructs.MR_INIT_ATTR.set(struct, "fd_offset", fdOffset);
    IbvStructs.MR_INIT_ATTR.set(struct, "dmah", dmah);
    IbvStructs.MR_INIT_ATTR.set(struct, "buf", buf);
    return struct;
  }

  private boolean isMissing(int bit, @Nullable Object object) {
    return (mask & bit) != 0 && object == null;
  }
}
