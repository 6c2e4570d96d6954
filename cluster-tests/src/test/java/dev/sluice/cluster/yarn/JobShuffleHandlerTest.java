// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.yarn.JobShuffleHandler;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The service in this process, with the port of Hadoop's own. */
@Timeout(60)
final class JobShuffleHandlerTest {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(1_700_000_000_000L, 1);
  private static final String NAME = "application_1700000000000_0001-mapreduce";
  private static final String REQUEST =
      "/mapOutput?job=job_1700000000000_0001&reduce=0&map=attempt_1700000000000_0001_m_000000_0";
  private static final byte[] SECRET = "of the shuffle".getBytes(StandardCharsets.UTF_8);
  private static final int TIMEOUT_MS = 30_000;

  @TempDir private Path directory;
  private final JobShuffleHandler service = new JobShuffleHandler();
  private Path file;

  @BeforeEach
  void start() throws Exception {
    Path root = Files.createDirectories(directory.resolve("disk/.sluice"));
    file = root.resolve(NAME).resolve("job");
    Configuration conf = new Configuration(false);
    conf.set("yarn.nodemanager.local-dirs", directory.resolve("disk").toString());
    conf.setInt(ShuffleHandler.SHUFFLE_PORT_CONFIG_KEY, 0);
    service.init(conf);
    service.start();
  }

  @AfterEach
  void stop() {
    service.stop();
  }

  private void initialize(ByteBuffer data) {
    service.initializeApplication(new ApplicationInitializationContext("alice", APPLICATION, data));
  }

  /** Asks Hadoop's own service for a map output, with a hash by a secret. */
  private int status(byte[] secret) throws IOException {
    int port = ShuffleHandler.deserializeMetaData(service.getMetaData());
    URL url = URI.create("http://127.0.0.1:" + port + REQUEST).toURL();
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    connection.setRequestProperty(
        SecureShuffleUtils.HTTP_HEADER_URL_HASH,
        SecureShuffleUtils.hashFromString(
            SecureShuffleUtils.buildMsgFrom(url), new SecretKeySpec(secret, "HmacSHA1")));
    connection.setRequestProperty(
        ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
    connection.setRequestProperty(
        ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
    try {
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }

  private void assertHadoopKnowsTheSecret(boolean isKnown) throws IOException {
    if (isKnown) {
      assertThat(status(SECRET)).isNotEqualTo(HttpURLConnection.HTTP_UNAUTHORIZED);
    } else {
      assertThat(status(SECRET)).isEqualTo(HttpURLConnection.HTTP_UNAUTHORIZED);
    }
    assertThat(status(new byte[] {1})).isEqualTo(HttpURLConnection.HTTP_UNAUTHORIZED);
  }

  @Test
  void theDaemonAndHadoopGetTheSecret() throws Exception {
    assertHadoopKnowsTheSecret(false);
    initialize(JobFoldersTest.token(SECRET));
    assertThat(file).content().contains("user=alice");
    assertHadoopKnowsTheSecret(true);
  }

  @Test
  void aJobThatHasEndedIsToldAfreshIfItReturns() throws Exception {
    initialize(JobFoldersTest.token(SECRET));
    service.stopApplication(new ApplicationTerminationContext(APPLICATION));
    assertHadoopKnowsTheSecret(false);
    Files.delete(file);
    initialize(JobFoldersTest.token(SECRET));
    assertThat(file).exists();
    assertHadoopKnowsTheSecret(true);
  }

  /** Hadoop's service fails such an application itself, or ignores it. */
  @Test
  void anApplicationWithoutATokenIsNotToldOf() throws Exception {
    initialize(ByteBuffer.allocate(0));
    assertThat(file.getParent()).doesNotExist();
    assertHadoopKnowsTheSecret(false);
  }
}
