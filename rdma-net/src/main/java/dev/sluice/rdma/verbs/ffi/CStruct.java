package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A C structure: the members that Java uses, by their C names, each where the C compiler puts it.
 * Members are reached by name, which is for code outside of the data path; the data path keeps
 * {@link #offset}s in constants. Immutable.
 */
public final class CStruct {
  private final String name;
  private final Map<String, Member> members;
  private final long size;
  private final long alignment;

  private record Member(MemoryLayout layout, long offset) {}

  private CStruct(String name, Map<String, Member> members, long size, long alignment) {
    this.name = name;
    this.members = members;
    this.size = size;
    this.alignment = alignment;
  }

  /**
   * Lays the members out in their order by the rules of the C ABI: each at the next multiple of its
   * alignment, the whole a multiple of the largest one.
   *
   * @param name as in C, such as {@code struct ibv_wc}
   * @param members each with its C name
   */
  public static CStruct of(String name, MemoryLayout... members) {
    Map<String, Member> placed = new LinkedHashMap<>();
    long end = 0;
    long alignment = 1;
    for (MemoryLayout member : members) {
      long offset = roundUp(end, member.byteAlignment());
      placed.put(member.name().orElseThrow(), new Member(member, offset));
      end = offset + member.byteSize();
      alignment = Math.max(alignment, member.byteAlignment());
    }
    return new CStruct(
        name, Collections.unmodifiableMap(placed), roundUp(end, alignment), alignment);
  }

  /** This structure with further bytes behind its members, which Java does not use. */
  public CStruct ofSize(long bytes) {
    return new CStruct(name, members, bytes, alignment);
  }

  private static long roundUp(long value, long alignment) {
    return (value + alignment - 1) / alignment * alignment;
  }

  public static MemoryLayout u8(String name) {
    return JAVA_BYTE.withName(name);
  }

  public static MemoryLayout u16(String name) {
    return JAVA_SHORT.withName(name);
  }

  /** An int, an unsigned int or an enum. */
  public static MemoryLayout u32(String name) {
    return JAVA_INT.withName(name);
  }

  public static MemoryLayout u64(String name) {
    return JAVA_LONG.withName(name);
  }

  public static MemoryLayout pointer(String name) {
    return ADDRESS.withName(name);
  }

  public static MemoryLayout bytes(String name, long length) {
    return MemoryLayout.sequenceLayout(length, JAVA_BYTE).withName(name);
  }

  /** Bytes that are aligned as 64-bit numbers are, such as a {@code union ibv_gid}. */
  public static MemoryLayout words(String name, long count) {
    return MemoryLayout.sequenceLayout(count, JAVA_LONG).withName(name);
  }

  /** A member that is a structure itself. */
  public static MemoryLayout struct(String name, CStruct type) {
    return MemoryLayout.sequenceLayout(
            type.size / type.alignment,
            switch ((int) type.alignment) {
              case 8 -> JAVA_LONG;
              case 4 -> JAVA_INT;
              case 2 -> JAVA_SHORT;
              default -> JAVA_BYTE;
            })
        .withName(name);
  }

  /** The name in C. */
  public String name() {
    return name;
  }

  /** Bytes. */
  public long size() {
    return size;
  }

  /** Names of the members, in their order. */
  public Iterable<String> members() {
    return members.keySet();
  }

  /** Bytes from the start of the structure. */
  public long offset(String member) {
    return member(member).offset;
  }

  /** Bytes of a member. */
  public long size(String member) {
    return member(member).layout.byteSize();
  }

  /** A new structure of zeros. */
  public MemorySegment allocate(SegmentAllocator allocator) {
    return allocator.allocate(size, alignment).fill((byte) 0);
  }

  /** The structure that a pointer from C points to; lives as long as C keeps it. */
  @SuppressWarnings("restricted")
  public MemorySegment at(MemorySegment pointer) {
    return pointer.reinterpret(size);
  }

  /** A member of up to 32 bits as an int: 8 and 16 bits zero-extended. */
  public int getInt(MemorySegment struct, String member) {
    return (int) getLong(struct, member);
  }

  /** A member as a long: shorter ones zero-extended. */
  public long getLong(MemorySegment struct, String member) {
    Member m = member(member);
    return switch (m.layout) {
      case ValueLayout.OfByte layout -> Byte.toUnsignedLong(struct.get(layout, m.offset));
      case ValueLayout.OfShort layout -> Short.toUnsignedLong(struct.get(layout, m.offset));
      case ValueLayout.OfInt layout -> Integer.toUnsignedLong(struct.get(layout, m.offset));
      case ValueLayout.OfLong layout -> struct.get(layout, m.offset);
      default -> throw new IllegalArgumentException(name + "." + member + " is not a number");
    };
  }

  /** Sets a member to the low bits of a number. */
  public void set(MemorySegment struct, String member, long value) {
    Member m = member(member);
    switch (m.layout) {
      case ValueLayout.OfByte layout -> struct.set(layout, m.offset, (byte) value);
      case ValueLayout.OfShort layout -> struct.set(layout, m.offset, (short) value);
      case ValueLayout.OfInt layout -> struct.set(layout, m.offset, (int) value);
      case ValueLayout.OfLong layout -> struct.set(layout, m.offset, value);
      default -> throw new IllegalArgumentException(name + "." + member + " is not a number");
    }
  }

  /** A member that is a pointer. */
  public MemorySegment getPointer(MemorySegment struct, String member) {
    return struct.get((AddressLayout) member(member).layout, offset(member));
  }

  public void set(MemorySegment struct, String member, MemorySegment pointer) {
    struct.set((AddressLayout) member(member).layout, offset(member), pointer);
  }

  /** A member that is a structure or an array, in place. */
  public MemorySegment part(MemorySegment struct, String member) {
    return struct.asSlice(offset(member), size(member));
  }

  private Member member(String member) {
    Member found = members.get(member);
    if (found == null) {
      throw new IllegalArgumentException(name + " has no member " + member);
    }
    return found;
  }

  @Override
  public String toString() {
    return name;
  }
}
