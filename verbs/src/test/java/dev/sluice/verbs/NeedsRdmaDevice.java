// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Marks a test that needs an RDMA device; it is skipped if there is none. Adds the tag {@code
 * rdma-device}, which selects the tests to run in the test bed.
 */
@Tag("rdma-device")
@ExtendWith(NeedsRdmaDevice.Condition.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface NeedsRdmaDevice {
  /** Looks for devices in the kernel's list. */
  final class Condition implements ExecutionCondition {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Files.isDirectory(DEVICES) && DEVICES.toFile().list().length > 0
          ? ConditionEvaluationResult.enabled("there is an RDMA device")
          : ConditionEvaluationResult.disabled(
              "there is no RDMA device in " + DEVICES + ": bin/with-verbs runs this test");
    }
  }
}
