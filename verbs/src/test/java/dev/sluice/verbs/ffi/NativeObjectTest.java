// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Parents own their children, and close them in the order that C requires. */
class NativeObjectTest {
  private final List<String> destroyed = new ArrayList<>();

  private final class Thing extends NativeObject {
    private final String name;
    private boolean busy;

    Thing(String name, NativeObject parent, int rank) {
      super(name, parent, MemorySegment.ofAddress(0xab), null, rank);
      this.name = name;
    }

    Thing child(String child, int childRank) throws VerbsException {
      return adopt(new Thing(child, this, childRank));
    }

    @Override
    protected void destroy(MemorySegment pointer) throws VerbsException {
      if (busy) {
        throw new VerbsException("destroy(" + name + ")", VerbsException.EBUSY, "in use");
      }
      destroyed.add(name);
    }
  }

  private final Thing root = new Thing("root", null, 0);

  @Test
  void childrenOfALowerRankGoFirstAndAmongThemTheYoungest() throws Exception {
    root.child("region", 2);
    Thing queue = root.child("old queue", 0);
    queue.child("grandchild", 5);
    root.child("window", 1);
    root.child("new queue", 0);
    root.close();
    assertThat(destroyed)
        .containsExactly("new queue", "grandchild", "old queue", "window", "region", "root");
  }

  @Test
  void closingTwiceDestroysOnce() throws Exception {
    Thing child = root.child("child", 0);
    child.close();
    child.close();
    root.close();
    root.close();
    assertThat(destroyed).containsExactly("child", "root");
    assertThat(root.isClosed()).isTrue();
  }

  @Test
  void objectsThatCRefusesToDestroyStayOpenAndAreClosedLater() throws Exception {
    Thing child = root.child("child", 0);
    child.busy = true;
    assertErrno(VerbsException.EBUSY, root);
    assertThat(child.isClosed()).isFalse();
    assertThat(root.isClosed()).isFalse();
    assertThat(root.pointer().address()).isEqualTo(0xab);

    child.busy = false;
    root.close();
    assertThat(destroyed).containsExactly("child", "root");
  }

  @Test
  void aClosedObjectHasNoPointer() throws Exception {
    root.close();
    assertThatThrownBy(root::pointer)
        .hasMessage("use of root 0xab: it is closed (errno 22)")
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
    assertThatThrownBy(root::struct)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("root 0xab is closed");
  }

  @Test
  void aClosedParentTakesNoChildren() throws Exception {
    root.close();
    assertThatThrownBy(() -> root.child("late child", 0)).isInstanceOf(VerbsException.class);
    assertThat(destroyed).containsExactly("root", "late child");
  }

  private static void assertErrno(int errno, Thing closed) {
    assertThatThrownBy(closed::close)
        .asInstanceOf(type(VerbsException.class))
        .extracting(VerbsException::errno)
        .isEqualTo(errno);
  }
}
