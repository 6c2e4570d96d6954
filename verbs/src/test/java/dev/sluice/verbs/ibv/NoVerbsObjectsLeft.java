// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Checks that a test class leaves none of its objects in the kernel: {@code rdma resource show}
 * counts the same contexts, domains, queues and regions before and after it. Does nothing if
 * iproute2's {@code rdma} is not installed.
 */
final class NoVerbsObjectsLeft implements BeforeAllCallback, AfterAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(NoVerbsObjectsLeft.class);

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    Optional<String> before = count();
    if (before.isPresent()) {
      context.getStore(NAMESPACE).put(context.getUniqueId(), before.get());
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    String before = context.getStore(NAMESPACE).get(context.getUniqueId(), String.class);
    if (before != null) {
      assertThat(count()).as("rdma resource show").contains(before);
    }
  }

  private static Optional<String> count() throws InterruptedException {
    try {
      Process process = new ProcessBuilder("rdma", "resource", "show").start();
      try (InputStream output = process.getInputStream()) {
        String shown = new String(output.readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() == 0 ? Optional.of(shown) : Optional.empty();
      }
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
