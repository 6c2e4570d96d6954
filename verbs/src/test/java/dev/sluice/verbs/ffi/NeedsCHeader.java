// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.junit.platform.commons.support.AnnotationSupport.findAnnotation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Marks a test that needs a C header and a compiler for {@code os.arch}. It is skipped if either is
 * missing.
 */
@ExtendWith(NeedsCHeader.Condition.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface NeedsCHeader {
  /** Name of the header, as in {@code #include}. */
  String value();

  /** Lets the compiler look for the header. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      // JUnit evaluates a class's condition for its methods, too; they need no header of their own.
      return findAnnotation(context.getElement(), NeedsCHeader.class)
          .map(needs -> evaluate(needs.value()))
          .orElse(ConditionEvaluationResult.enabled("needs no C header"));
    }

    private static ConditionEvaluationResult evaluate(String header) {
      try {
        return CCompiler.finds(header)
            ? ConditionEvaluationResult.enabled(CCompiler.FOR_OS_ARCH + " finds " + header)
            : ConditionEvaluationResult.disabled(
                "there is no %s that finds %s: install gcc libibverbs-dev librdmacm-dev (Debian, Ubuntu) or gcc rdma-core-devel (Fedora, RHEL); for another architecture gcc-aarch64-linux-gnu or gcc-x86-64-linux-gnu"
                    .formatted(CCompiler.FOR_OS_ARCH, header));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
