package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.ExecutorProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;

/** SIGSTOP of an executor for some seconds: its connections stay, and nobody answers. */
final class ExecutorStopped extends Fault {
  private final int seconds;
  private ExecutorProcess victim;
  private Thread waker;

  ExecutorStopped(int seconds) {
    super(
        "stopped-" + seconds + "s", "SIGSTOP of an executor for " + seconds + " s", Moment.REDUCE);
    this.seconds = seconds;
  }

  /** Spark itself may take an executor for lost that is silent for two minutes. */
  @Override
  public int stageRetries() {
    return seconds > 60 ? 4 : 0;
  }

  @Override
  public boolean happensToStock() {
    return true;
  }

  @Override
  public List<String> workloads() {
    return List.of("group-by", "skewed-join", "small-blocks");
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    ExecutorProcess stopped = cluster.any(random);
    victim = stopped;
    stopped.signal("STOP");
    waker = Thread.startVirtualThread(() -> wakeLater(stopped));
  }

  private void wakeLater(ExecutorProcess stopped) {
    try {
      Thread.sleep(seconds * 1_000L);
      stopped.signal("CONT");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // It is woken by heal.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    if (victim != null) {
      waker.interrupt();
      waker.join();
      victim.signal("CONT");
    }
  }
}
