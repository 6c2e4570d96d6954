// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InstalledReaderTest {
  private static final TaskAttemptID REDUCE =
      TaskAttemptID.forName("attempt_1700000000000_0012_r_000003_1");

  @TempDir private Path home;

  @Test
  void namesOfNodesAreThoseOfYarn() {
    TaskAttemptID map = TaskAttemptID.forName("attempt_1700000000000_0012_m_000007_2");
    assertThat(MapIds.jobName(map.getJobID()))
        .isEqualTo("application_1700000000000_0012-mapreduce");
    assertThat(MapIds.mapId(map)).isEqualTo(7L << 32 | 2);
  }

  @Test
  void versionsOfJavaAreTold() {
    assertThat(InstalledReader.javaVersion("1.8")).isEqualTo(8);
    assertThat(InstalledReader.javaVersion("17")).isEqualTo(17);
    assertThat(InstalledReader.javaVersion("25")).isEqualTo(25);
  }

  @Test
  void aJobWithoutATokenOrAnInstallationReadsNothing() {
    Configuration conf = new Configuration(false);
    assertOff(conf, null, "the job has no secret for its shuffle");
    assertOff(conf, secret(), "sluice.mapreduce.home is not set");
    conf.set("sluice.mapreduce.home", home.toString());
    assertOff(conf, secret(), "cannot be listed on this node");
  }

  @Test
  void anEncryptedShuffleIsNotReadUnlessThatIsAllowed() {
    Configuration conf = new Configuration(false);
    conf.setBoolean("mapreduce.shuffle.ssl.enabled", true);
    assertThatThrownBy(() -> InstalledReader.open(conf, REDUCE, secret()))
        .isInstanceOfSatisfying(
            NodeReadException.class,
            e -> assertThat(e.reason()).isEqualTo(HttpReason.WIRE_ENCRYPTION))
        .hasMessageContaining("sluice.mapreduce.allowPlaintext=true");
    conf.setBoolean("sluice.mapreduce.allowPlaintext", true);
    assertOff(conf, secret(), "sluice.mapreduce.home is not set");
  }

  @Test
  void anInstallationWithoutTheReaderIsNamed() throws Exception {
    Files.createDirectory(home.resolve("jars"));
    Configuration conf = new Configuration(false);
    conf.set("sluice.mapreduce.home", home.toString());
    try (NodeReader reader = InstalledReader.open(conf, REDUCE, secret())) {
      assertOff(() -> reader.locate("host", new long[1]), "has no sluice-mapreduce-reader jar");
    }
  }

  @Test
  void classesComeFromOneReleaseIfTheLinkToItIsChanged() throws Exception {
    Path release = Files.createDirectories(home.resolve("sluice-1/jars"));
    Path jar = Files.createFile(release.resolve("sluice-mapreduce-reader.jar"));
    Path link = Files.createSymbolicLink(home.resolve("sluice"), home.resolve("sluice-1"));
    assertThat(InstalledReader.jars(link.toString()))
        .containsExactly(jar.toRealPath().toUri().toURL());
  }

  private static void assertOff(Configuration conf, @Nullable SecretKey secret, String reason) {
    assertOff(() -> InstalledReader.open(conf, REDUCE, secret), reason);
  }

  private static void assertOff(ThrowingCallable call, String reason) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            NodeReadException.class, e -> assertThat(e.reason()).isEqualTo(HttpReason.OFF))
        .hasMessageContaining(reason);
  }

  private static SecretKey secret() {
    return new SecretKeySpec("secret".getBytes(StandardCharsets.UTF_8), "HmacSHA1");
  }
}
