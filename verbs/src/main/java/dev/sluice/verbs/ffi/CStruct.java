// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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

  /** A member; the type of an array ends with its length. */
  private record Member(String type, long offset, long size) {}

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
      CStruct type = type(typed.group(2), parts);
      alignment = Math.max(alignment, type.alignment);
      for (String declarator : typed.group(3).split(",\\s*")) {
        int bracket = declarator.indexOf('[');
        String member = bracket < 0 ? declarator : declarator.substring(0, bracket);
        String length = bracket < 0 ? "" : declarator.substring(bracket);
        long count = bracket < 0 ? 1 : Long.parseLong(length, 1, length.length() - 1, 10);
        long offset = roundUp(end, type.alignment);
        placed.put(member, new Member(type.name + length, offset, count * type.size));
        if (bracket < 0) {
          type.members.forEach(
              (inner, m) ->
                  placed.put(member + "." + inner, new Member(m.type, offset + m.offset, m.size)));
        }
        end = offset + count * type.size;
        size = Math.max(size, end);
      }
    }
    placed.remove("");
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

  private static CStruct type(String name, CStruct... parts) {
    int size =
        switch (name) {
          case "byte" -> 1;
          case "short" -> 2;
          case "int" -> 4;
          case "long", "ptr" -> 8;
          // glibc uses 48 bytes on aarch64 and 40 bytes on other 64-bit architectures.
          case "pthread_mutex_t" -> System.getProperty("os.arch").equals("aarch64") ? 48 : 40;
          case "pthread_cond_t" -> 48;
          default -> 0;
        };
    if (size > 0) {
      return new CStruct(name, Map.of(), size, Math.min(size, Long.BYTES));
    }
    return Stream.of(parts)
        .filter(part -> part.name.equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown type " + name));
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
    return member(member).size;
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
    return switch (m.type) {
      case "byte" -> Byte.toUnsignedLong(struct.get(JAVA_BYTE, m.offset));
      case "short" -> Short.toUnsignedLong(struct.get(JAVA_SHORT, m.offset));
      case "int" -> Integer.toUnsignedLong(struct.get(JAVA_INT, m.offset));
      case "long" -> struct.get(JAVA_LONG, m.offset);
      default -> throw new IllegalArgumentException(name + "." + member + " is not a number");
    };
  }

  /** Sets a member to the low bits of a number. */
  public void set(MemorySegment struct, String member, long value) {
    Member m = member(member);
    switch (m.type) {
      case "byte" -> struct.set(JAVA_BYTE, m.offset, (byte) value);
      case "short" -> struct.set(JAVA_SHORT, m.offset, (short) value);
      case "int" -> struct.set(JAVA_INT, m.offset, (int) value);
      case "long" -> struct.set(JAVA_LONG, m.offset, value);
      default -> throw new IllegalArgumentException(name + "." + member + " is not a number");
    }
  }

  /** Reads a pointer member. */
  public MemorySegment getPointer(MemorySegment struct, String member) {
    return struct.get(ADDRESS, pointerOffset(member));
  }

  public void set(MemorySegment struct, String member, MemorySegment pointer) {
    struct.set(ADDRESS, pointerOffset(member), pointer);
  }

  /** Sets a pointer member to an object; null leaves it as it is. */
  public void set(MemorySegment struct, String member, @Nullable NativeObject object)
      throws VerbsException {
    if (object != null) {
      set(struct, member, object.pointer());
    }
  }

  private long pointerOffset(String member) {
    if (!member(member).type.equals("ptr")) {
      throw new IllegalArgumentException(name + "." + member + " is not a pointer");
    }
    return offset(member);
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
