// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Drops files from the page cache, so that their bytes are only on disk. */
public final class PageCache {
  /** Other file systems keep pages, or cannot report them. */
  private static final Set<String> FILE_SYSTEMS = Set.of("ext4", "xfs");

  private PageCache() {}

  /** Skips the calling test if the file's pages cannot be dropped, for example in memory. */
  static void assumeDroppable(Path file) throws IOException {
    assumeTrue(FILE_SYSTEMS.contains(Files.getFileStore(file).type()));
  }

  /** Drops the file's pages. Skips the calling test if that is impossible. */
  public static void drop(Path file) throws Exception {
    assumeDroppable(file);
    // fdatasync(2) and POSIX_FADV_DONTNEED, as dd(1) documents.
    assertThat(
            new ProcessBuilder(
                    "dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
                .start()
                .waitFor())
        .isZero();
  }
}
