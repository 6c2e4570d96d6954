// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.node.JobFile.MapReduceJob;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File with an application's state in its folder, for the daemon's next start. Nothing is forced to
 * the disk: files survive the process, but a system crash may leave only some of them. The file
 * therefore has the boot's id, and a folder of another boot is discarded. The secret of a MapReduce
 * job is in its {@link JobFile} alone. {@link NodeFolders} reads and writes it on threads of {@link
 * NodeDisks}. Daemons of other releases read it: a new key needs a default.
 */
final class StateFile {
  private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);

  private static final String NAME = ".application";
  private static final String SECRET = "secret";
  private static final String SINCE = "since";
  private static final String PORT = "port";
  private static final String BOOT = "boot";
  private static final String UID = "uid";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private static final FileAttribute<Set<PosixFilePermission>> OF_OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private StateFile() {}

  static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(NAME));
  }

  /**
   * Reads an application's state; null if the file is damaged or of another boot. The file is only
   * replaced as a whole, so damage means that the disk lost more.
   */
  static @Nullable ApplicationState read(Path folder) throws IOException {
    Properties state = new Properties();
    try (Reader reader = Files.newBufferedReader(folder.resolve(NAME))) {
      state.load(reader);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      LOG.warn("The state file in {} cannot be parsed", folder, e);
    }
    String name = folder.getFileName().toString();
    String since = state.getProperty(SINCE, "0"); // Earlier block servers did not write it.
    String port = state.getProperty(PORT, "");
    boolean isOfThisBoot = state.getProperty(BOOT, "").equals(boot());
    ApplicationState job = JobFile.read(folder);
    String secret = job == null ? state.getProperty(SECRET) : job.secret();
    String uid = state.getProperty(UID);
    boolean isWhole =
        secret != null
            && port.matches("\\d{1,5}")
            && (uid == null || uid.matches("-?\\d{1,10}"))
            && (job != null || !JobFile.isName(name));
    return NodeFolders.isName(name) && isOfThisBoot && isWhole
        ? new ApplicationState(
            name,
            secret,
            since,
            Integer.parseInt(port),
            OtherUser.of(uid == null ? null : (int) Long.parseLong(uid)),
            job == null ? null : job.job())
        : null;
  }

  /** Boot id, which changes each time that the system starts (random(4)). */
  private static String boot() throws IOException {
    return Files.exists(BOOT_ID) ? Files.readString(BOOT_ID).strip() : "";
  }

  /** Replaces the file. */
  static void write(Path folder, ApplicationState state) throws IOException {
    Properties properties = new Properties();
    if (state.job() == null) {
      properties.setProperty(SECRET, state.secret());
    }
    if (state.user() != null) {
      properties.setProperty(UID, Integer.toString(state.user().uid()));
    }
    properties.setProperty(SINCE, state.since());
    properties.setProperty(BOOT, boot());
    properties.setProperty(PORT, Integer.toString(state.port()));
    Path unfinished = folder.resolve(NAME + ".new");
    Files.deleteIfExists(unfinished);
    Files.createFile(unfinished, OF_OWNER_ALONE);
    try (Writer writer = Files.newBufferedWriter(unfinished)) {
      properties.store(writer, null);
    }
    Files.move(unfinished, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Facts about an application that a node keeps across restarts of its daemon, next to the map
   * outputs. {@link Applications} makes it for a new application, {@link JobFile} for a new job;
   * {@link StateFile} reads and writes it. The {@link Application} holds the present one, and
   * replaces it when its {@link ServedApplication} has a port. Immutable; any thread. It holds the
   * secret, so {@link #toString} leaves that out.
   *
   * @param name name of this run of the application
   * @param secret by which its processes authenticate; empty if they do not
   * @param since part of its {@link dev.sluice.blocks.wire.NodeId}: constant as long as the node
   *     keeps its map outputs
   * @param port where the node listens for its processes; 0 as long as there is none
   * @param user user of its executors, if that is not the daemon's; null for a MapReduce job
   * @param job null for an application of Spark
   */
  record ApplicationState(
      String name,
      String secret,
      String since,
      int port,
      @Nullable OtherUser user,
      @Nullable MapReduceJob job) {
    /** State of an application of Spark that the node has no map outputs of. */
    static ApplicationState first(String name, String secret) {
      return first(name, secret, null);
    }

    /** State of an application that the node does not serve yet. */
    static ApplicationState first(String name, String secret, @Nullable MapReduceJob job) {
      return new ApplicationState(name, secret, random(), 0, null, job);
    }

    /**
     * @param other uid of the executors; null for the daemon's own
     */
    ApplicationState of(@Nullable Integer other) {
      return new ApplicationState(name, secret, since, port, OtherUser.of(other), job);
    }

    /** New random id, in hexadecimal digits. */
    static String random() {
      byte[] random = new byte[Long.BYTES];
      new SecureRandom().nextBytes(random);
      return HexFormat.of().formatHex(random);
    }

    /** State after a loss of map outputs that the node had. */
    ApplicationState anew() {
      return new ApplicationState(name, secret, random(), port, user, job);
    }

    ApplicationState withPort(int newPort) {
      return new ApplicationState(name, secret, since, newPort, user, job);
    }

    boolean hasSecret(String other) {
      return MessageDigest.isEqual(
          secret.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    boolean hasUserOf(ApplicationState other) {
      return Objects.equals(
          user == null ? null : user.uid(), other.user == null ? null : other.user.uid());
    }

    @Override
    public String toString() {
      return name + " at port " + port; // The secret is not for logs.
    }
  }

  /**
   * User of an application's executors that is not the daemon's.
   *
   * @param uid its number, because a name may be missing while it is looked up elsewhere
   * @param inbox name of the application's {@link dev.sluice.blocks.handover.Inbox} in this run of
   *     the daemon
   */
  record OtherUser(int uid, String inbox) {
    /** Makes a new inbox's name; returns null without a user. */
    static @Nullable OtherUser of(@Nullable Integer uid) {
      return uid == null
          ? null
          : new OtherUser(uid, ApplicationState.random() + ApplicationState.random());
    }
  }
}
