// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import org.junit.jupiter.api.Test;

class ReadAuditTest {
  private static final int QP = 7;

  private final ReadAudit audit = new ReadAudit();

  @Test
  void memoryMayBeUsedAgainOnceItsReadHasCompleted() {
    audit.posted(QP, read(1, 1000, 100));
    assertThat(audit.completed(QP, 1)).hasSize(1);
    audit.posted(QP, read(2, 1050, 100));
    assertThat(audit.overlaps()).isZero();
    assertThat(audit.underWay()).isEqualTo(1);
  }

  @Test
  void aReadIntoMemoryThatAnotherMayStillWriteToIsCounted() {
    audit.posted(QP, read(1, 1000, 100));
    audit.posted(QP + 1, read(1, 1099, 1));
    assertThat(audit.overlaps()).isEqualTo(1);
    audit.posted(QP, read(2, 900, 100));
    audit.posted(QP, read(3, 1100, 100));
    assertThat(audit.overlaps()).as("overlaps of adjoining READs").isEqualTo(1);
  }

  @Test
  void aCompletionIsOneOfAllThatWerePostedBefore() {
    audit.posted(QP, read(1, 1000, 100));
    audit.posted(QP, read(2, 2000, 100));
    audit.posted(QP, read(3, 3000, 100));
    assertThat(audit.completed(QP, 2)).extracting(SendWorkRequest::wrId).containsExactly(1L, 2L);
    assertThat(audit.completed(QP, 9)).isEmpty();
    assertThat(audit.underWay()).isEqualTo(1);
  }

  @Test
  void aDestroyedQueuePairWritesToNothing() {
    audit.posted(QP, read(1, 1000, 100));
    audit.destroyed(QP);
    audit.posted(QP + 1, read(1, 1000, 100));
    assertThat(audit.overlaps()).isZero();
  }

  @Test
  void refusedReadsAreForgotten() {
    SendWorkRequest refused = read(1, 1000, 100);
    audit.posted(QP, refused);
    audit.refused(QP, refused);
    audit.posted(QP, read(2, 1000, 100));
    assertThat(audit.overlaps()).isZero();
    assertThat(audit.underWay()).isEqualTo(1);
  }

  private static SendWorkRequest read(long wrId, long address, int length) {
    return new SendWorkRequest(wrId, new ScatterGatherEntry(address, length, 1), 0, 2, true);
  }
}
