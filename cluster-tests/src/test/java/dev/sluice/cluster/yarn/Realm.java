// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import dev.sluice.testkit.OtherUser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.apache.hadoop.minikdc.MiniKdc;

/**
 * A Kerberos realm with a key distribution center in this process. The test that starts it closes
 * it. For one thread.
 */
final class Realm implements AutoCloseable {
  private final Path directory;
  private final MiniKdc kdc;

  private Realm(Path directory, MiniKdc kdc) {
    this.directory = directory;
    this.kdc = kdc;
  }

  /**
   * @param directory folder of its files, which does not exist
   */
  static Realm start(Path directory) throws Exception {
    Files.createDirectory(directory);
    MiniKdc kdc = new MiniKdc(MiniKdc.createConf(), directory.toFile());
    kdc.start();
    return new Realm(directory, kdc);
  }

  /** Returns the option by which a JVM uses this realm. */
  String option() {
    return "-Djava.security.krb5.conf=" + kdc.getKrb5conf();
  }

  /** Returns the name of a user, as a person or as a service on this machine. */
  String principal(OtherUser user) {
    return user.name() + (user.equals(OtherUser.MANAGER) ? "/localhost@" : "@") + kdc.getRealm();
  }

  /** Makes a user's principal and returns its key, which the user alone may read. */
  Path keytab(OtherUser user) throws Exception {
    Path keytab = directory.resolve(user.name() + ".keytab");
    String principal = principal(user);
    kdc.createPrincipal(keytab.toFile(), principal.substring(0, principal.indexOf('@')));
    Files.setPosixFilePermissions(keytab, PosixFilePermissions.fromString("rw-------"));
    Files.setOwner(
        keytab,
        keytab.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user.name()));
    return keytab;
  }

  /** Returns the settings of a cluster in this realm, and makes its principal. */
  Map<String, String> settings() throws Exception {
    String principal = principal(OtherUser.MANAGER);
    String keytab = keytab(OtherUser.MANAGER).toString();
    return Map.of(
        "hadoop.security.authentication", "kerberos",
        "yarn.resourcemanager.principal", principal,
        "yarn.resourcemanager.keytab", keytab,
        "yarn.nodemanager.principal", principal,
        "yarn.nodemanager.keytab", keytab);
  }

  @Override
  public void close() {
    kdc.stop();
  }
}
