// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sluice.rdma.log.LogCapture;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class TaskFailuresTest {
  private static final Logger LOG = LoggerFactory.getLogger(TaskFailuresTest.class);

  @Test
  void namesTheSubject() {
    try (LogCapture log = new LogCapture(TaskFailuresTest.class, Level.ERROR)) {
      TaskFailures.log(LOG, "Closing {} failed", 7, new IllegalStateException("thrown by a test"));
      TaskFailures.log(LOG, "A task failed", new IllegalStateException("thrown by a test"));
      assertThat(log.messages()).containsExactly("Closing 7 failed", "A task failed");
    }
  }

  @Test
  void doesNotThrowWhereTheSubjectCannotBeNamed() {
    Object subject =
        new Object() {
          @Override
          public String toString() {
            throw new LinkageError("thrown by a test");
          }
        };
    assertThatCode(() -> TaskFailures.log(LOG, "Closing {} failed", subject, new Error()))
        .doesNotThrowAnyException();
  }
}
