package dev.sluice.rdma.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Takes files out of the page cache: they lie on their disk alone then. */
public final class PageCache {
  /** Others keep pages, or cannot say whether they have them. */
  private static final Set<String> FILE_SYSTEMS = Set.of("ext4", "xfs");

  private PageCache() {}

  /** The calling test is skipped where the file system lacks what it takes. */
  public static void drop(Path file) throws Exception {
    assumeTrue(FILE_SYSTEMS.contains(Files.getFileStore(file).type()));
    // fdatasync(2) and POSIX_FADV_DONTNEED, as its manual has it.
    assertThat(
            new ProcessBuilder(
                    "dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
                .start()
                .waitFor())
        .isZero();
  }
}
