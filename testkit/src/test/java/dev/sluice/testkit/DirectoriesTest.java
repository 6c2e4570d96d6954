// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoriesTest {
  private static final int TREES = 20;
  private static final int CHILDREN = 30;

  @TempDir private Path parent;

  @Test
  void deletingToleratesFilesThatAnotherThreadDeletes() throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      for (int i = 0; i < TREES; i++) {
        Path tree = tree("tree-" + i);
        Future<?> others =
            other.submit(
                () -> {
                  start.await(20, TimeUnit.SECONDS);
                  Directories.delete(tree);
                  return null;
                });
        start.await(20, TimeUnit.SECONDS);
        Directories.delete(tree);
        others.get(20, TimeUnit.SECONDS);
        assertThat(tree).doesNotExist();
      }
    }
  }

  private Path tree(String name) throws IOException {
    Path tree = Files.createDirectory(parent.resolve(name));
    for (int i = 0; i < CHILDREN; i++) {
      Path child = Files.createDirectory(tree.resolve("child-" + i));
      Files.createFile(child.resolve("a"));
      Files.createFile(child.resolve("b"));
    }
    return tree;
  }
}
