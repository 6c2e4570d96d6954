// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.chaos.inject.Wrapper.Replaces;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WrapperTest {
  private final List<String> called = new ArrayList<>();

  /** Notes the called methods; toRts fails. */
  private final QueuePair queuePair =
      (QueuePair)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {QueuePair.class},
              (_, method, _) -> {
                called.add(method.getName());
                if (method.getName().equals("toRts")) {
                  throw new VerbsException("ibv_modify_qp", VerbsException.EINVAL, "refused");
                }
                return switch (method.getName()) {
                  case "qpNumber", "hashCode" -> 17;
                  case "toString" -> "queue pair 17";
                  default -> null;
                };
              });

  /** Refuses to post, and closes the queue pair. */
  private final class Changes {
    @Replaces
    void postSend(List<SendWorkRequest> chain) throws PostException {
      throw new PostException("ibv_post_send", VerbsException.ENOMEM, "full", chain.size());
    }

    @Replaces
    void close() {
      called.add("changed close");
      queuePair.close();
    }
  }

  private final QueuePair wrapper = Wrapper.of(QueuePair.class, queuePair, new Changes());

  @Test
  void otherMethodsAreThoseOfTheWrappedObject() throws VerbsException {
    assertThat(wrapper.qpNumber()).isEqualTo(17);
    assertThatThrownBy(wrapper::toRts).isInstanceOf(VerbsException.class);
    assertThat(called).containsExactly("qpNumber", "toRts");
  }

  @Test
  void changedMethodsReplaceThoseOfTheWrappedObject() {
    assertThatThrownBy(() -> wrapper.postSend(List.of())).isInstanceOf(PostException.class);
    wrapper.close();
    assertThat(called).containsExactly("changed close", "close");
  }

  private static final class Misspelt {
    @Replaces
    void postSends(List<SendWorkRequest> chain) {
      throw new AssertionError("nothing calls it");
    }
  }

  @Test
  void aMethodThatReplacesNoneIsRefused() {
    Misspelt changes = new Misspelt();
    assertThatThrownBy(() -> Wrapper.of(QueuePair.class, queuePair, changes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("postSends");
  }

  @Test
  void theWrappedObjectIsFoundAgain() {
    assertThat(Wrapper.unwrap(QueuePair.class, wrapper)).isSameAs(queuePair);
  }

  @Test
  void aWrapperIsEqualToItselfOnly() {
    assertThat(wrapper).isEqualTo(wrapper);
    assertThat(wrapper).isNotEqualTo(queuePair);
    assertThat(List.of(wrapper)).contains(wrapper);
  }
}
