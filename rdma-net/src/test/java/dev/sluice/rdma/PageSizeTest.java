// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import org.junit.jupiter.api.Test;

class PageSizeTest {
  @Test
  void isTheOneThatTheLibraryOfCHas() throws Exception {
    NativeFunction getpagesize =
        NativeFunction.exported(NativeLibrary.LIBC, "int getpagesize()", Failure.NONE);
    int bytes = getpagesize.call();
    assertThat(PageSize.BYTES).isEqualTo(bytes);
  }

  @Test
  void bytesAreRoundedUpToWholePages() {
    long page = PageSize.BYTES;
    assertThat(PageSize.roundUp(0)).isZero();
    assertThat(PageSize.roundUp(1)).isEqualTo(page);
    assertThat(PageSize.roundUp(page)).isEqualTo(page);
    assertThat(PageSize.roundUp(5L << 40 | 1)).isEqualTo((5L << 40) + page);
  }
}
