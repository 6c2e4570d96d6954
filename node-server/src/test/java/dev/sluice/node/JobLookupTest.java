// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients ask for jobs, known and unknown. The disks answer after {@link #answer}. */
@Timeout(60)
class JobLookupTest {
  private static final String KNOWN = name(0);

  private final CountDownLatch answer = new CountDownLatch(1);
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicLong nowNanos = new AtomicLong();
  private final JobLookup lookup = new JobLookup(this::find, nowNanos::get);

  private static String name(int job) {
    return "application_1700000000000_%04d-mapreduce".formatted(job);
  }

  private ApplicationState find(String name) throws IOException {
    looks.incrementAndGet();
    try {
      answer.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    if (name.equals(KNOWN)) {
      return ApplicationState.first(name, JobFixture.SECRET, new MapReduceJob("alice", true));
    }
    throw new IOException("scripted");
  }

  @AfterEach
  void end() {
    answer.countDown();
    lookup.close();
  }

  @Test
  void readersOfAJobShareALook() throws Exception {
    List<CompletableFuture<ApplicationState>> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(lookup.find(KNOWN));
    }
    answer.countDown();
    for (CompletableFuture<ApplicationState> each : readers) {
      assertThat(each.get(30, TimeUnit.SECONDS).name()).isEqualTo(KNOWN);
    }
    assertThat(looks).hasValue(1);
  }

  @Test
  void aJobThatIsUnknownIsNotLookedForAgainForAMoment() {
    answer.countDown();
    assertRefused(name(1), "scripted");
    assertRefused(name(1), "scripted");
    assertThat(looks).hasValue(1);
    nowNanos.addAndGet(JobLookup.REFUSED.toNanos());
    assertRefused(name(1), "scripted");
    assertThat(looks).hasValue(2);
  }

  @Test
  void noMoreNamesWaitThanAreAllowed() {
    for (int job = 1; job <= JobLookup.MAX_LOOKS; job++) {
      assertThat(lookup.find(name(job))).isNotDone();
    }
    assertRefused(KNOWN, "too many jobs");
  }

  @Test
  void anotherNameIsNotLookedFor() {
    assertRefused("../../secret-mapreduce", "not that of a MapReduce job");
    assertThat(looks).hasValue(0);
  }

  private void assertRefused(String name, String reason) {
    assertThat(lookup.find(name))
        .failsWithin(30, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining(reason);
  }
}
