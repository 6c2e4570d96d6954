package dev.sluice.rdma.verbs.ffi;

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

/** A test that needs gcc and a C header, and is skipped where one of them is missing. */
@ExtendWith(NeedsCHeader.Condition.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface NeedsCHeader {
  /** As in {@code #include}. */
  String value();

  /** Has the compiler look for the header. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      // A class's condition is asked for its methods again, which need nothing more.
      return findAnnotation(context.getElement(), NeedsCHeader.class)
          .map(needs -> evaluate(needs.value()))
          .orElse(ConditionEvaluationResult.enabled("needs no C header"));
    }

    private static ConditionEvaluationResult evaluate(String header) {
      try {
        return CCompiler.finds(header)
            ? ConditionEvaluationResult.enabled("gcc finds " + header)
            : ConditionEvaluationResult.disabled(
                "there is no gcc that finds "
                    + header
                    + ": install gcc libibverbs-dev librdmacm-dev (Debian, Ubuntu)"
                    + " or gcc rdma-core-devel (Fedora, RHEL)");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
