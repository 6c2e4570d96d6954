// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AnsweringProcessTest {
  /** Files of a process may be deleted after this; a killed process may still write for a while. */
  @Test
  void aProcessThatIsKilledHasEndedWhenItIsClosed() {
    Stubborn process = new Stubborn();
    new AnsweringProcess(process, IOException::new).close();
    assertThat(process.ended).isTrue();
  }

  /** A stopped executor does not notice that its driver has ended. */
  @Test
  void aStoppedExecutorIsKilledAlsoIfItsDriverHasEnded() throws Exception {
    String driver = "sleep 1000 & kill -STOP $!; echo $!; cat >/dev/null; echo done";
    ProcessHandle executor;
    try (AnsweringProcess process =
        new AnsweringProcess(
            new ProcessBuilder("sh", "-c", driver).start(), reason -> new IOException(reason))) {
      executor = ProcessHandle.of(Long.parseLong(process.await())).orElseThrow();
      process.end();
    }
    try {
      assertThat(executor.onExit()).succeedsWithin(10, TimeUnit.SECONDS);
    } finally {
      executor.destroyForcibly();
    }
  }

  /** Ends by a kill alone, some time afterwards. */
  private static final class Stubborn extends Process {
    private boolean killed;
    private boolean ended;

    @Override
    public OutputStream getOutputStream() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public InputStream getInputStream() {
      return InputStream.nullInputStream();
    }

    @Override
    public InputStream getErrorStream() {
      return InputStream.nullInputStream();
    }

    @Override
    public int waitFor() {
      ended = killed;
      return exitValue();
    }

    @Override
    public boolean waitFor(long timeout, TimeUnit unit) {
      ended = killed;
      return ended;
    }

    @Override
    public int exitValue() {
      if (!ended) {
        throw new IllegalThreadStateException("it runs");
      }
      return 137;
    }

    @Override
    public void destroy() {
      // It ignores the request.
    }

    @Override
    public Process destroyForcibly() {
      killed = true;
      return this;
    }

    @Override
    public Stream<ProcessHandle> descendants() {
      return Stream.empty();
    }
  }
}
