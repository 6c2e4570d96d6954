// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

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
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Layout of a C structure: the members that Java uses, by their C names, at the offsets of the C
 * compiler. Access by name is slow; the data path has constant {@link #offset}s. Immutable.
 */
public final class CStruct {
  /** The offset of a view in a union, a type and its members. */
  private static final Pattern DECLARATION =
      Pattern.compile("(?:@(\\d+) )?((?:struct |union )?\\w+) (.+)", Pattern.DOTALL);

  private static final Pattern STRUCT = Pattern.compile("((?:struct|union) \\w+) \\{([^}]*)}");

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
   * Lays out the members in the given order by the rules of the C ABI. Each member starts at the
   * next multiple of its alignment. The size is a multiple of the largest alignment.
   *
   * @param name as in C, such as {@code struct ibv_wc}
   * @param members as in C, with the types {@code ptr}, {@code byte}, {@code short}, {@code int}
   *     and {@code long} of Java's sizes, {@code pthread_mutex_t} and {@code pthread_cond_t}, such
   *     as {@code ptr context; int fd, refcnt}. Java does not use an array without a name.
   *     {@code @24 int x} puts a member of a union at an offset
   * @param parts types of members that are structures; names become such as {@code cap.max_send_wr}
   */
  public static CStruct of(String name, String members, CStruct... parts) {
    Map<String, Member> placed = new LinkedHashMap<>();
    long end = 0;
    long size = 0;
    long alignment = 1;
    for (String declaration : members.strip().split("\\s*;\\s*")) {
      Matcher typed = DECLARATION.matcher(declaration);
      if (!typed.matches()) {
        throw new IllegalArgumentException(name + " has an invalid declaration: " + declaration);
      }
      end = typed.group(1) == null ? end : Long.parseLong(typed.group(1));
      String type = typed.group(2);
      Optional<CStruct> part = Stream.of(parts).filter(p -> p.name.equals(type)).findFirst();
      for (String declarator : typed.group(3).split(",\\s*")) {
        MemoryLayout layout = part.map(CStruct::asMember).orElseGet(() -> layout(type));
        int bracket = declarator.indexOf('[');
        if (bracket >= 0) {
          String length = declarator.substring(bracket + 1, declarator.length() - 1);
          layout = MemoryLayout.sequenceLayout(Long.parseLong(length), layout);
        }
        long offset = roundUp(end, layout.byteAlignment());
        String member = bracket < 0 ? declarator : declarator.substring(0, bracket);
        placed.put(member, new Member(layout, offset));
        if (bracket < 0) {
          part.ifPresent(p -> p.members.forEach(inner(member, offset, placed)));
        }
        end = offset + layout.byteSize();
        size = Math.max(size, end);
        alignment = Math.max(alignment, layout.byteAlignment());
      }
    }
    return new CStruct(
        name, Collections.unmodifiableMap(placed), roundUp(size, alignment), alignment);
  }

  /**
   * Lays out the structures of a header, as {@link #of}. The result has their names for keys.
   *
   * @param header such as {@code struct ibv_sge { long addr; int length, lkey; }}; a structure
   *     follows those that are its members
   * @param others structures of other headers, which the result has too
   */
  public static Map<String, CStruct> header(String header, CStruct... others) {
    Map<String, CStruct> structs = new LinkedHashMap<>();
    Stream.of(others).forEach(other -> structs.put(other.name, other));
    for (MatchResult found : STRUCT.matcher(header).results().toList()) {
      CStruct[] known = structs.values().toArray(CStruct[]::new);
      structs.put(found.group(1), of(found.group(1), found.group(2), known));
    }
    String rest = STRUCT.matcher(header).replaceAll("").strip();
    if (!rest.isEmpty()) {
      throw new IllegalArgumentException("invalid declaration: " + rest);
    }
    return Collections.unmodifiableMap(structs);
  }

  /** Adds the named members of a nested structure. */
  private static BiConsumer<String, Member> inner(
      String outer, long offset, Map<String, Member> placed) {
    return (name, inner) -> {
      if (!name.isEmpty()) {
        placed.put(outer + "." + name, new Member(inner.layout, offset + inner.offset));
      }
    };
  }

  private static MemoryLayout layout(String type) {
    return switch (type) {
      // glibc uses 48 bytes on aarch64 and 40 bytes on other 64-bit architectures.
      case "pthread_mutex_t" ->
          MemoryLayout.sequenceLayout(
              System.getProperty("os.arch").equals("aarch64") ? 6 : 5, JAVA_LONG);
      case "pthread_cond_t" -> MemoryLayout.sequenceLayout(6, JAVA_LONG);
      default -> NativeFunction.layout(type);
    };
  }

  private MemoryLayout asMember() {
    return MemoryLayout.sequenceLayout(
        size / alignment,
        switch ((int) alignment) {
          case 8 -> JAVA_LONG;
          case 4 -> JAVA_INT;
          case 2 -> JAVA_SHORT;
          default -> JAVA_BYTE;
        });
  }

  private static long roundUp(long value, long alignment) {
    return (value + alignment - 1) / alignment * alignment;
  }

  /** The structure's name in C. */
  public String name() {
    return name;
  }

  /** Size of the structure in bytes. */
  public long size() {
    return size;
  }

  /** Names of the members, in order. */
  public Iterable<String> members() {
    return members.keySet();
  }

  public boolean has(String member) {
    return members.containsKey(member);
  }

  /** Offset of a member in bytes. */
  public long offset(String member) {
    return member(member).offset;
  }

  /** Size of a member in bytes. */
  public long size(String member) {
    return member(member).layout.byteSize();
  }

  /** Allocates a structure that is filled with zeros. */
  public MemorySegment allocate(SegmentAllocator allocator) {
    return allocator.allocate(size, alignment).fill((byte) 0);
  }

  /** Copies a structure to the Java heap, which needs no free. */
  public MemorySegment copy(MemorySegment struct) {
    return allocate(NativeFunction.HEAP).copyFrom(struct.asSlice(0, size));
  }

  /** Returns the structure at a pointer from C; valid only as long as C keeps the structure. */
  @SuppressWarnings("restricted")
  public MemorySegment at(MemorySegment pointer) {
    return pointer.reinterpret(size);
  }

  /** Reads a member of up to 32 bits. Members of 8 and 16 bits are zero-extended. */
  public int getInt(MemorySegment struct, String member) {
    return (int) getLong(struct, member);
  }

  /** Reads a member as a long. Shorter members are zero-extended. */
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

  /** Reads a pointer member. */
  public MemorySegment getPointer(MemorySegment struct, String member) {
    return struct.get((AddressLayout) member(member).layout, offset(member));
  }

  public void set(MemorySegment struct, String member, MemorySegment pointer) {
    struct.set((AddressLayout) member(member).layout, offset(member), pointer);
  }

  /** Returns the memory of a member that is a structure or an array, without copying it. */
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
