package dev.sluice.rdma.verbs;

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
 * A test that needs an RDMA device, and is skipped where there is none. Has the tag {@code
 * rdma-device}, by which they are run in the test bed.
 */
@Tag("rdma-device")
@ExtendWith(NeedsRdmaDevice.Condition.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface NeedsRdmaDevice {
  /** Looks for devices where the kernel lists them. */
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
