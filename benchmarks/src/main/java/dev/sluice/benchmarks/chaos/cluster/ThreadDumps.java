package dev.sluice.benchmarks.chaos.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Says what hung: thread dumps of driver and executors, as files. Used by the run's thread. */
public record ThreadDumps(Path directory) {

  public void take(List<ExecutorProcess> executors) throws IOException, InterruptedException {
    take("driver", ProcessHandle.current().pid());
    for (ExecutorProcess executor : executors) {
      take("executor-" + executor.id(), executor.pid());
    }
  }

  private void take(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
            Long.toString(pid),
            "Thread.print")
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("threads-" + name + ".txt").toFile())
        .start()
        .waitFor();
  }
}
