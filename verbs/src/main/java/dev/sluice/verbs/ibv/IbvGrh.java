// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jspecify.annotations.Nullable;

/**
 * A global route header: {@code struct ibv_grh}. A UD receive puts these {@link #BYTES} bytes
 * before the message if the completion has the flag GRH. RoCE v2 over IPv4 puts an IPv4 header into
 * the last 20 of them; only {@link IbvContext#initAhFromWc} can read its addresses. Immutable.
 */
public final class IbvGrh {
  public static final long BYTES = IbvStructs.GRH.size();

  private final MemorySegment struct;

  /**
   * Copies the header.
   *
   * @param received memory of the receive, which begins with the header
   * @throws IndexOutOfBoundsException for fewer than {@link #BYTES} bytes
   */
  public IbvGrh(MemorySegment received) {
    struct = IbvStructs.GRH.copy(received);
  }

  /**
   * Returns the header in native form; NULL for null. Libraries read it if the flag GRH is among
   * the flags of the message's completion.
   */
  static MemorySegment write(@Nullable IbvGrh grh, int wcFlags, SegmentAllocator allocator)
      throws VerbsException {
    if (grh == null && (wcFlags & IbvWcArray.Flags.GRH) != 0) {
      throw VerbsException.invalid(
          "address of a message's sender",
          "the completion has the flag GRH, but no header was given");
    }
    return grh == null
        ? MemorySegment.NULL
        : IbvStructs.GRH.allocate(allocator).copyFrom(grh.struct);
  }

  /** UDP source port that RoCE v2 derives from a flow label (ibv_flow_label_to_udp_sport(3)). */
  public static int udpSourcePort(int flowLabel) {
    return flowLabel & 0x3fff ^ (flowLabel & 0xfc000) >>> 14 | 0xc000;
  }

  /** IP version, 6. */
  public int version() {
    return versionTclassFlow() >>> 28;
  }

  public int trafficClass() {
    return versionTclassFlow() >>> 20 & 0xff;
  }

  /** 20 bits. */
  public int flowLabel() {
    return versionTclassFlow() & 0xfffff;
  }

  /** Bytes after the header. */
  public int payloadLength() {
    return Short.toUnsignedInt(Short.reverseBytes((short) get("paylen")));
  }

  public int nextHeader() {
    return get("next_hdr");
  }

  public int hopLimit() {
    return get("hop_limit");
  }

  /** GID of the sender. */
  public Gid sgid() {
    return IbvGidEntry.gid(IbvStructs.GRH.part(struct, "sgid"));
  }

  /** GID of the receiver, or of the multicast group. */
  public Gid dgid() {
    return IbvGidEntry.gid(IbvStructs.GRH.part(struct, "dgid"));
  }

  private int versionTclassFlow() {
    return Integer.reverseBytes(get("version_tclass_flow"));
  }

  private int get(String member) {
    return IbvStructs.GRH.getInt(struct, member);
  }
}
