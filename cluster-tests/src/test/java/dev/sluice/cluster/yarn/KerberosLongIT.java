// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import dev.sluice.testkit.OtherUser;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A secure cluster: LinuxContainerExecutor and Kerberos. Runs as root. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class KerberosLongIT {
  @TempDir private static Path directory;
  private static Realm realm;
  private static UserCluster cluster;
  private static String principal;
  private static String keytab;

  @BeforeAll
  static void startCluster() throws Exception {
    UserCluster.assumeUsers(directory);
    realm = Realm.start(directory.resolve("realm"));
    principal = realm.principal(OtherUser.OWNER);
    keytab = realm.keytab(OtherUser.OWNER).toString();
    cluster = UserCluster.start(directory, realm.settings(), realm.option());
  }

  @AfterAll
  static void endCluster() {
    if (cluster != null) {
      cluster.close();
    }
    if (realm != null) {
      realm.close();
    }
  }

  @Test
  void mapOutputsOfReleasedExecutorsAreRead() throws Exception {
    cluster.runSpark(List.of("--principal", principal, "--keytab", keytab));
  }

  @Test
  void mapOutputsOfMapReduceAreRead() throws Exception {
    cluster.runMapReduce(List.of(principal, keytab));
  }
}
