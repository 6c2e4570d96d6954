// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Structures are laid out by the rules of the C ABI. */
class CStructTest {
  private static final CStruct MIXED =
      CStruct.of("struct mixed", "byte a; int b; byte c; long d; short e; byte f[3]; ptr g");

  @Test
  void eachMemberIsAtAMultipleOfItsAlignment() {
    assertThat(MIXED.offset("a")).isZero();
    assertThat(MIXED.offset("b")).isEqualTo(4);
    assertThat(MIXED.offset("c")).isEqualTo(8);
    assertThat(MIXED.offset("d")).isEqualTo(16);
    assertThat(MIXED.offset("e")).isEqualTo(24);
    assertThat(MIXED.offset("f")).isEqualTo(26);
    assertThat(MIXED.offset("g")).isEqualTo(32);
    assertThat(MIXED.size()).isEqualTo(40);
    assertThat(MIXED.members()).containsExactly("a", "b", "c", "d", "e", "f", "g");
  }

  @Test
  void theWholeIsAMultipleOfTheLargestAlignment() {
    CStruct shorts = CStruct.of("struct s", "short a; byte b");
    CStruct longs = CStruct.of("struct l", "long a[2]; byte b");
    assertThat(shorts.size()).isEqualTo(4);
    assertThat(longs.size()).isEqualTo(24);
  }

  @Test
  void aStructureInAnotherKeepsItsAlignment() {
    CStruct inner = CStruct.of("struct inner", "short a, b");
    CStruct outer =
        CStruct.of(
            "struct outer",
            "byte x; struct inner inner; byte y; struct mixed mixed;",
            inner,
            MIXED);
    assertThat(outer.offset("inner")).isEqualTo(2);
    assertThat(outer.offset("y")).isEqualTo(6);
    assertThat(outer.offset("mixed")).isEqualTo(8);
    assertThat(outer.offset("inner.b")).isEqualTo(4);
    assertThat(outer.offset("mixed.g")).isEqualTo(40);
    assertThat(outer.size()).isEqualTo(48);
  }

  @Test
  void aDeclarationWithoutAKnownTypeIsRefused() {
    assertThatThrownBy(() -> CStruct.of("struct s", "struct t member"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("unknown type struct t");
    assertThatThrownBy(() -> CStruct.of("struct s", "member"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("struct s has an invalid declaration: member");
  }

  @Test
  void aUnionIsAsLongAsItsLongestView() {
    CStruct views = CStruct.of("struct views", "int kind; @8 long x, y; @8 int z; @12 byte w");
    assertThat(views.offset("y")).isEqualTo(16);
    assertThat(views.offset("z")).isEqualTo(8);
    assertThat(views.offset("w")).isEqualTo(12);
    assertThat(views.size()).isEqualTo(24);
  }

  @Test
  void aHeaderDeclaresStructuresThatContainEarlierOnes() {
    Map<String, CStruct> header =
        CStruct.header(
            """
            union number { long raw[2]; }
            struct outer {
              byte x; union number number;
              struct mixed mixed;
            }
            """,
            MIXED);
    assertThat(header).containsOnlyKeys("struct mixed", "union number", "struct outer");
    assertThat(header.get("struct outer").offset("number")).isEqualTo(8);
    assertThat(header.get("struct outer").offset("mixed.g")).isEqualTo(56);
    assertThat(header.get("struct outer").name()).isEqualTo("struct outer");
  }

  @Test
  void aHeaderWithAnythingElseIsRefused() {
    assertThatThrownBy(() -> CStruct.header("struct s { int a; } struct t { int b;"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("invalid declaration: struct t { int b;");
  }

  @Test
  void numbersAreUnsigned() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = MIXED.allocate(arena);
      MIXED.set(struct, "a", -1);
      MIXED.set(struct, "b", -2);
      MIXED.set(struct, "d", -3);
      MIXED.set(struct, "e", 0x1fffe);
      assertThat(MIXED.getInt(struct, "a")).isEqualTo(0xff);
      assertThat(MIXED.getLong(struct, "b")).isEqualTo(0xffff_fffeL);
      assertThat(MIXED.getInt(struct, "b")).isEqualTo(-2);
      assertThat(MIXED.getInt(struct, "c")).isZero();
      assertThat(MIXED.getLong(struct, "d")).isEqualTo(-3);
      assertThat(MIXED.getInt(struct, "e")).isEqualTo(0xfffe);
    }
  }

  @Test
  void pointersAndPartsAreWhereTheyAre() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = MIXED.allocate(arena);
      MIXED.set(struct, "g", MemorySegment.ofAddress(0x1234));
      MIXED.part(struct, "f").fill((byte) 7);
      assertThat(struct.get(ValueLayout.JAVA_LONG, 32)).isEqualTo(0x1234);
      assertThat(MIXED.getPointer(struct, "g").address()).isEqualTo(0x1234);
      assertThat(struct.asSlice(26, 3).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
      assertThat(MIXED.getInt(struct, "e")).isZero();
    }
  }

  @Test
  void aPointerFromCBecomesTheStructure() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = MIXED.allocate(arena);
      MIXED.set(struct, "d", 42);
      MemorySegment pointer = MemorySegment.ofAddress(struct.address());
      assertThat(MIXED.getLong(MIXED.at(pointer), "d")).isEqualTo(42);
    }
  }

  @Test
  void missingOrNonNumericMembersAreReported() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = MIXED.allocate(arena);
      assertThatThrownBy(() -> MIXED.getInt(struct, "z"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("struct mixed has no member z");
      assertThatThrownBy(() -> MIXED.getInt(struct, "f"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("struct mixed.f is not a number");
      assertThatThrownBy(() -> MIXED.set(struct, "f", 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
